"""What fails, what takes over, and what the asker is told."""

import asyncio
from collections.abc import Sequence

import pytest

from crag_graph.context import Policy
from crag_graph.domain import Abstention, Fault, Kind, ModelCall, Passage, Score, TextDelta, TextRestart, Verdict
from crag_graph.graph import RESERVE, RETRY, build
from crag_graph.services import (
    Evaluation,
    LibraryError,
    ModelBusyError,
    ModelRejectedError,
    ModelReplyError,
    ServiceError,
    TimeUpError,
    WebBusyError,
    WebRejectedError,
)
from tests.crag_graph.running import Cast, ask, turn
from tests.fakes.services import ScriptedEvaluator, ScriptedWeb, ScriptedWriter, page, passage, trouble

DESCENT = passage("Gradient descent follows the slope. It takes small steps.", title="Learning")
LAYER = page("Layer normalisation uses one example. Transformers use it.", title="Layer norm")
FOR_EVER = 3_600.0
HURRY = Policy(deadline=0.4)
SLACK = 0.5
"""For a busy machine; what hangs here hangs for an hour."""


def spare_writer() -> ScriptedWriter:
    return ScriptedWriter(quoted=True, name="extractive", web_query="spare keywords")


def scored(score: float = 0.9) -> ScriptedEvaluator:
    return ScriptedEvaluator(scores={"slope": score, "Layer": score})


def busy(times: int) -> list[Exception | float]:
    return [ModelBusyError("status 429") for _ in range(times)]


async def test_a_busy_model_is_asked_again_and_the_answer_is_the_models() -> None:
    writer = ScriptedWriter(trouble=trouble(generate=busy(2)))
    run = await ask("What is it?", Cast(passages=[DESCENT], evaluator=scored(), writer=writer))
    assert not run.answer.quoted
    assert run.answer.notice == ""
    assert len(writer.briefs) == 3
    assert run.faults == [("generate", "ModelBusyError")] * 2


async def test_a_second_attempt_starts_the_shown_text_over() -> None:
    writer = ScriptedWriter(trouble=trouble(generate=busy(1)))
    run = await ask("What is it?", Cast(passages=[DESCENT], evaluator=scored(), writer=writer))
    texts = [event for event in run.progress if isinstance(event, TextDelta | TextRestart)]
    assert isinstance(texts[0], TextDelta)
    assert texts.count(TextRestart()) == 1
    assert run.shown == run.answer.text
    assert run.stages.count("generate") == 1


@pytest.mark.parametrize(
    "failures", [busy(3), [ModelRejectedError("wrong key")], [ModelReplyError("cut off")]], ids=["busy", "key", "cut"]
)
async def test_a_model_that_gives_no_answer_is_replaced_by_quotes_and_the_asker_is_told(
    failures: list[Exception | float],
) -> None:
    writer = ScriptedWriter(trouble=trouble(generate=failures))
    cast = Cast(passages=[DESCENT], evaluator=scored(), writer=writer, spare_writer=spare_writer())
    run = await ask("What is it?", cast)
    assert run.answer.quoted
    assert "The language model gave no answer" in run.answer.notice
    assert run.answer.citations[0].title == "Learning"
    assert run.shown == run.answer.text
    assert len(run.faults) == len(failures)


async def test_an_empty_answer_is_no_answer() -> None:
    cast = Cast(
        passages=[DESCENT], evaluator=scored(), writer=ScriptedWriter(answer=" \n"), spare_writer=spare_writer()
    )
    run = await ask("What is it?", cast)
    assert run.answer.quoted
    assert run.faults == [("generate", "ModelReplyError")]


async def test_quotes_without_any_chat_model_set_up_need_no_excuse() -> None:
    run = await ask("What is it?", Cast(passages=[DESCENT], evaluator=scored(), writer=spare_writer()))
    assert run.answer.quoted
    assert run.answer.notice == ""


async def test_without_a_spare_the_models_failure_is_raised() -> None:
    writer = ScriptedWriter(trouble=trouble(generate=[ModelRejectedError("wrong key")]))
    with pytest.raises(ModelRejectedError):
        await ask("What is it?", Cast(passages=[DESCENT], evaluator=scored(), writer=writer))


async def test_a_follow_up_is_made_to_stand_alone_by_the_spare_when_the_model_fails() -> None:
    writer = ScriptedWriter(trouble=trouble(contextualize=busy(3)))
    spare = ScriptedWriter(standalone={"And then?": "And then, after gradient descent?"}, quoted=True)
    cast = Cast(passages=[DESCENT], evaluator=scored(), writer=writer, spare_writer=spare)
    run = await ask("And then?", cast, history=[turn("What is gradient descent?", "A walk downhill.")])
    assert cast.library.queries == ["And then, after gradient descent?"]
    assert not run.answer.quoted, "the model is back for the answer"


async def test_the_web_query_is_written_by_the_spare_when_the_model_fails() -> None:
    writer = ScriptedWriter(trouble=trouble(rewrite=[ModelReplyError("no JSON")]))
    cast = Cast(writer=writer, spare_writer=spare_writer(), web=ScriptedWeb(pages=[LAYER]))
    run = await ask("What is layer normalisation?", cast)
    assert cast.web.queries == ["spare keywords"]
    assert not run.answer.abstained


@pytest.mark.parametrize("score", [0.9, 0.5, 0.1])
async def test_the_spare_evaluator_takes_over_and_the_graph_goes_where_its_verdict_leads(score: float) -> None:
    evaluator = ScriptedEvaluator(
        trouble=trouble(evaluate=[ModelReplyError("prose")], filter=[ModelReplyError("prose")])
    )
    spare = scored(score)
    cast = Cast(passages=[DESCENT], evaluator=evaluator, spare_evaluator=spare, web=ScriptedWeb(pages=[LAYER]))
    run = await ask("What is it?", cast)
    verdicts = {0.9: Verdict.CORRECT, 0.5: Verdict.AMBIGUOUS, 0.1: Verdict.INCORRECT}
    assert run.answer.verdict is verdicts[score]
    assert ("search_web" in run.stages) is (score < 0.7)
    assert not run.answer.abstained
    assert run.faults == [("evaluate", "ModelReplyError"), ("refine", "ModelReplyError")]
    assert run.answer.notice == ""


async def test_a_spare_that_keeps_no_strip_leads_to_an_abstention() -> None:
    evaluator = scored()
    evaluator.trouble = trouble(filter=[ModelRejectedError("too long")])
    cast = Cast(passages=[DESCENT], evaluator=evaluator, spare_evaluator=ScriptedEvaluator(keep=[]))
    run = await ask("What is it?", cast)
    assert run.answer.abstention is Abstention.TOO_WEAK


class CarelessEvaluator(ScriptedEvaluator):
    """Gives one score, whatever was asked."""

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        return Evaluation(scores=(Score(value=float(question), reason="sure"),), parts=())


@pytest.mark.parametrize("value", ["1.5", "-0.1", "nan", "0.9"])
async def test_scores_that_are_missing_or_out_of_range_give_no_verdict(value: str) -> None:
    cast = Cast(passages=[DESCENT, DESCENT][: 2 if value == "0.9" else 1], evaluator=CarelessEvaluator())
    cast.spare_evaluator = scored()
    run = await ask(value, cast)
    assert run.faults == [("evaluate", "ModelReplyError")]
    assert run.answer.verdict is Verdict.CORRECT


@pytest.mark.parametrize("failures", [[WebRejectedError("plan used up")], [WebBusyError("503") for _ in range(3)]])
async def test_web_away_and_ambiguous_answers_from_the_library_and_says_so(failures: list[Exception | float]) -> None:
    cast = Cast(passages=[DESCENT], evaluator=scored(0.5), web=ScriptedWeb(trouble=trouble(search=failures)))
    run = await ask("What is it?", cast)
    assert {citation.kind for citation in run.answer.citations} == {Kind.INTERNAL}
    assert "the web could not be reached" in run.answer.notice
    assert run.faults == [("search_web", type(failure).__name__) for failure in failures]


async def test_web_away_and_incorrect_abstains_and_says_so() -> None:
    web = ScriptedWeb(trouble=trouble(search=[WebRejectedError("wrong key")]))
    run = await ask("What is layer normalisation?", Cast(passages=[DESCENT], web=web))
    assert run.answer.abstention is Abstention.WEB_UNREACHABLE
    assert "could not be reached" in run.answer.text


async def test_a_web_that_comes_back_leaves_no_excuse_behind() -> None:
    web = ScriptedWeb(pages=[LAYER], trouble=trouble(search=[WebBusyError("503")]))
    run = await ask("What is layer normalisation?", Cast(web=web))
    assert not run.answer.abstained
    assert run.answer.notice == ""
    assert run.faults == [("search_web", "WebBusyError")]


async def test_a_web_that_came_back_with_nothing_was_reachable() -> None:
    web = ScriptedWeb(trouble=trouble(search=[WebBusyError("503")]))
    run = await ask("What is layer normalisation?", Cast(web=web))
    assert run.answer.abstention is Abstention.NOTHING_FOUND


async def test_the_librarys_own_faults_are_kept_for_the_trace() -> None:
    cast = Cast(passages=[DESCENT], evaluator=scored())
    cast.library.faults = (Fault(where="retrieve", kind="ModelBusyError", message="full text alone"),)
    assert (await ask("What is it?", cast)).faults == [("retrieve", "ModelBusyError")]


async def test_a_library_that_is_away_is_asked_again_and_then_the_failure_is_raised() -> None:
    cast = Cast(passages=[DESCENT], evaluator=scored())
    cast.library.trouble = trouble(search=[LibraryError("starting")])
    assert not (await ask("What is it?", cast)).answer.abstained
    cast.library.trouble = trouble(search=[LibraryError("away") for _ in range(3)])
    with pytest.raises(LibraryError):
        await ask("What is it?", cast)


async def test_a_look_elsewhere_that_fails_does_not_harm_the_abstention() -> None:
    cast = Cast(hidden=[DESCENT])
    cast.evaluator.trouble = trouble(evaluate=[ModelBusyError("429")])
    run = await ask("What is it?", cast, elsewhere=("hidden",))
    assert run.answer.abstention is Abstention.NOTHING_FOUND
    assert run.faults == [("abstain", "ModelBusyError")]


async def test_calls_of_failed_attempts_are_paid_and_counted() -> None:
    spent = (ModelCall(role="generate", model="scripted", completion_tokens=512),)
    failure = ModelReplyError("cut off", calls=spent)
    writer = ScriptedWriter(trouble=trouble(generate=[failure]))
    cast = Cast(passages=[DESCENT], evaluator=scored(), writer=writer, spare_writer=spare_writer())
    assert (await ask("What is it?", cast)).state["calls"] == spent


async def test_a_fault_of_ours_is_not_papered_over() -> None:
    writer = ScriptedWriter(trouble=trouble(generate=[KeyError("a bug")]))
    cast = Cast(passages=[DESCENT], evaluator=scored(), writer=writer, spare_writer=spare_writer())
    with pytest.raises(KeyError):
        await ask("What is it?", cast)


async def test_a_model_that_hangs_is_left_before_the_deadline_and_the_answer_is_quoted() -> None:
    writer = ScriptedWriter(trouble=trouble(generate=[FOR_EVER]))
    cast = Cast(passages=[DESCENT], evaluator=scored(), writer=writer, spare_writer=spare_writer())
    run = await ask("What is it?", cast, policy=HURRY)
    assert run.answer.quoted
    assert run.faults == [("generate", "TimeUpError")]
    assert run.seconds < HURRY.deadline + SLACK
    assert run.seconds >= HURRY.deadline * (1 - RESERVE) - 0.05
    assert run.shown == run.answer.text


async def test_when_everything_hangs_the_spares_still_answer_in_time() -> None:
    hanging = trouble(contextualize=[FOR_EVER], rewrite=[FOR_EVER], generate=[FOR_EVER])
    cast = Cast(
        passages=[DESCENT],
        evaluator=ScriptedEvaluator(trouble=trouble(evaluate=[FOR_EVER], filter=[FOR_EVER])),
        writer=ScriptedWriter(trouble=hanging),
        web=ScriptedWeb(trouble=trouble(search=[FOR_EVER])),
        spare_evaluator=scored(0.5),
        spare_writer=spare_writer(),
    )
    run = await ask("And then?", cast, policy=HURRY, history=[turn("What is it?", "A walk downhill.")])
    assert run.answer.quoted
    assert run.answer.citations
    assert "the web could not be reached" in run.answer.notice
    assert run.seconds < HURRY.deadline + SLACK
    assert {kind for _, kind in run.faults} == {"TimeUpError"}
    assert cast.web.queries == [], "what cannot be waited for is not asked"


async def test_an_abstention_comes_in_time_too() -> None:
    evaluator = ScriptedEvaluator(trouble=trouble(evaluate=[FOR_EVER]))
    cast = Cast(passages=[DESCENT], hidden=[DESCENT], evaluator=evaluator, spare_evaluator=ScriptedEvaluator())
    cast.writer.trouble = trouble(rewrite=[FOR_EVER])
    cast.spare_writer = spare_writer()
    run = await ask("What is it?", cast, policy=HURRY, elsewhere=("hidden",))
    assert run.answer.abstention is Abstention.WEB_UNREACHABLE
    assert run.seconds < HURRY.deadline + SLACK


async def test_nobody_waits_for_a_retry_that_would_come_too_late() -> None:
    writer = ScriptedWriter(trouble=trouble(generate=busy(3)))
    cast = Cast(passages=[DESCENT], evaluator=scored(), writer=writer, spare_writer=spare_writer())
    slow = build(retry=RETRY._replace(initial_interval=5.0, max_interval=5.0))
    run = await ask("What is it?", cast, graph=slow, policy=HURRY)
    assert run.answer.quoted
    assert run.seconds < HURRY.deadline + SLACK
    assert len(writer.briefs) == 1


async def test_a_library_that_hangs_ends_with_the_deadline() -> None:
    cast = Cast()
    cast.library.trouble = trouble(search=[FOR_EVER])
    started = asyncio.get_running_loop().time()
    with pytest.raises(TimeUpError):
        await ask("What is it?", cast, policy=HURRY)
    assert asyncio.get_running_loop().time() - started < HURRY.deadline + SLACK


async def test_a_run_that_is_stopped_lets_go_at_once() -> None:
    writer = ScriptedWriter(trouble=trouble(generate=[FOR_EVER]))
    cast = Cast(passages=[DESCENT], evaluator=scored(), writer=writer, spare_writer=spare_writer())
    task = asyncio.create_task(ask("What is it?", cast))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_what_a_service_error_says_is_its_sentence_and_the_detail() -> None:
    error: ServiceError = WebBusyError("(status 503)")
    assert str(error) == "The web search did not answer: timeout, server error or lost connection. (status 503)"

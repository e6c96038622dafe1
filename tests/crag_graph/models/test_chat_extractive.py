from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from crag_graph.domain import Conversation, JudgedStrip, Passage, Score, Strip, Turn, Verdict
from crag_graph.models.chat_extractive import ExtractiveWriter
from crag_graph.services import Brief, Draft, Source, Writer
from crag_graph.strips import decompose
from tests.fakes.services import page, passage

TODAY = date(2026, 11, 30)
NEW = Conversation()
WRITER: Writer = ExtractiveWriter()

LEAVE = passage(
    "Every parent has 60 days of parental leave. The days may be taken in up to three blocks. "
    "Adoptive parents have 40 days. Tell your lead eight weeks ahead. The canteen opens at eight. "
    "Bicycles stand behind the house.",
    title="Leave handbook",
)
OLD = replace(
    passage("Every parent has 45 days of parental leave. It may be taken in one block.", title="Leave handbook 2022"),
    superseded=True,
)
PRICES = passage(
    "Item: Standard desk; Price: 310 EUR; Delivery: 2 weeks\n\nItem: Standing desk; Price: 540 EUR; Delivery: 4 weeks\n\n"
    "Item: Lamp; Price: 35 EUR; Delivery: 1 week",
    title="Price list",
)


def judged(*passages: Passage, values: Sequence[float | tuple[float, ...]] | None = None) -> tuple[JudgedStrip, ...]:
    """A tuple of values is by part."""
    strips = [strip for one in passages for strip in decompose(one)]
    by_part = [value if isinstance(value, tuple) else (value,) for value in values or [0.8] * len(strips)]
    return tuple(
        JudgedStrip(strip=strip, score=Score(value=max(each), reason="judged"), kept=True, by_part=each)
        for strip, each in zip(strips, by_part, strict=True)
    )


def brief(
    question: str,
    *passages: Passage,
    parts: tuple[str, ...] = (),
    values: Sequence[float | tuple[float, ...]] | None = None,
    verdict: Verdict = Verdict.CORRECT,
) -> Brief:
    return Brief(
        question=question,
        standalone=question,
        verdict=verdict,
        sources=tuple(
            Source(number=number, title=one.title, strips=(Strip(passage=one, start=0, end=len(one.text)),))
            for number, one in enumerate(passages, 1)
        ),
        conversation=NEW,
        today=TODAY,
        parts=parts,
        judged=judged(*passages, values=values) if values is not None or parts else (),
    )


TWO_THINGS = brief(
    "How many days of parental leave do I get and what does a standing desk cost?",
    LEAVE,
    PRICES,
    parts=("How many days of parental leave do I get", "what does a standing desk cost"),
)


async def written(asked: Brief) -> Draft:
    return await WRITER.generate(asked, lambda _: None)


async def test_the_answer_is_quoted_with_its_mark_and_leaves_out_what_was_not_asked() -> None:
    draft = await written(brief("How many days of parental leave do I get?", LEAVE))
    assert draft.quoted
    assert draft.calls == ()
    assert draft.text.startswith("Every parent has 60 days of parental leave.")
    assert draft.text.endswith("[1]")
    assert "Bicycles" not in draft.text


async def test_the_text_comes_in_pieces_that_add_up_to_the_draft() -> None:
    pieces: list[str] = []
    draft = await WRITER.generate(TWO_THINGS, pieces.append)
    assert "".join(pieces) == draft.text
    assert len(pieces) == 2


async def test_every_part_of_the_question_is_covered() -> None:
    asked = "How many days of parental leave do I get and what does a standing desk cost?"
    draft = await written(
        brief(asked, LEAVE, PRICES, parts=("days of parental leave", "what does a standing desk cost"))
    )
    assert "60 days" in draft.text
    assert "540 EUR" in draft.text
    assert "[1]" in draft.text
    assert "[2]" in draft.text


async def test_a_table_row_stands_on_its_own_line_under_the_name_of_its_document() -> None:
    draft = await written(brief("What does a standing desk cost?", PRICES))
    assert draft.text.splitlines()[:2] == [
        "Price list:",
        "- Item: Standing desk; Price: 540 EUR; Delivery: 4 weeks [1]",
    ]


async def test_the_value_that_holds_is_quoted_and_not_the_one_it_replaced() -> None:
    draft = await written(brief("How many days of parental leave do I get?", OLD, LEAVE))
    assert "60 days" in draft.text
    assert "45 days" not in draft.text


EDITIONS = (
    replace(passage("Groups may have up to 30 people.", title="Release notes 8.4"), newer="Release notes 8.5"),
    passage("Groups may now have up to 45 people.", title="Release notes 8.5"),
)


async def test_of_two_editions_that_both_say_it_the_newer_one_is_quoted() -> None:
    draft = await written(brief("How many people may be in groups?", *EDITIONS, values=[0.9, 0.8]))
    assert ("45 people" in draft.text, "30 people" in draft.text) == (True, False)


async def test_what_only_the_older_edition_says_is_quoted_from_it() -> None:
    silent = passage("The theme is dark.", title="Release notes 8.5")
    draft = await written(brief("How many people may be in groups?", EDITIONS[0], silent, values=[0.9, 0.1]))
    assert "30 people" in draft.text


async def test_the_edition_of_the_year_that_is_asked_for_is_quoted() -> None:
    old = replace(passage("A desk costs 300 crowns.", title="Prices 2024"), newer="Prices 2025", superseded=True)
    new = passage("A desk costs 320 crowns.", title="Prices 2025")
    then = (await written(brief("What did a desk cost in 2024?", old, new, values=[0.8, 0.9]))).text
    now = (await written(brief("What does a desk cost?", old, new, values=[0.9, 0.8]))).text
    assert ("300" in then, "320" in then) == (True, False)
    assert ("300" in now, "320" in now) == (False, True)


async def test_who_asks_for_what_was_gets_what_was() -> None:
    draft = await written(brief("How many days of parental leave were there under the old rules?", OLD, LEAVE))
    assert "45 days" in draft.text
    by_year = await written(brief("How many days of parental leave were there in 2022?", OLD, LEAVE))
    assert "45 days" in by_year.text


async def test_where_nothing_newer_is_known_the_old_is_quoted() -> None:
    assert "45 days" in (await written(brief("How many days of parental leave do I get?", OLD))).text


async def test_current_documents_stand_before_superseded_ones() -> None:
    draft = await written(brief("What was the previous parental leave, and what is it now?", OLD, LEAVE))
    assert draft.text.index("60 days") < draft.text.index("45 days")


async def test_what_was_judged_better_is_preferred() -> None:
    one, other = passage("Your lead approves it."), passage("The travel desk books it.")
    draft = await written(brief("Whom do I ask about my journey?", one, other, values=[0.1, 0.9]))
    assert draft.text == "The travel desk books it. [2]"


async def test_what_touches_on_the_question_without_answering_it_is_not_quoted() -> None:
    asked = brief("Who won the chess tournament on leave?", LEAVE, values=[0.4] * 3, verdict=Verdict.AMBIGUOUS)
    draft = await written(asked)
    assert (draft.text, draft.unanswered) == ("", True)
    assert draft.missing == (asked.standalone,)


@pytest.mark.parametrize("value", [0.4, 0.85])
async def test_words_or_a_sure_judgement_are_enough_to_be_quoted(value: float) -> None:
    question = "days of parental leave" if value < 0.5 else "What do mums and dads get off?"
    draft = await written(brief(question, LEAVE, values=[value, 0.1, 0.1], verdict=Verdict.AMBIGUOUS))
    assert draft.text.startswith("Every parent has 60 days of parental leave.")
    assert not draft.unanswered


async def test_what_the_verdict_calls_enough_is_quoted_whatever_words_it_has() -> None:
    draft = await written(brief("What do mums and dads get off?", LEAVE, values=[0.7, 0.1, 0.1]))
    assert "60 days" in draft.text
    assert draft.missing == ()


async def test_an_old_document_that_alone_knows_it_is_enough_too() -> None:
    asked = brief("How many days of parental leave do I get?", OLD, values=[0.6], verdict=Verdict.AMBIGUOUS)
    assert "45 days" in (await written(asked)).text


async def test_of_two_parts_the_one_that_nothing_answers_is_named() -> None:
    parts = ("How many days of parental leave do I get", "who won the chess tournament")
    values = [(0.9, 0.1), *[(0.1, 0.1)] * 5]
    asked = brief(" and ".join(parts), LEAVE, PRICES, parts=parts, values=values, verdict=Verdict.AMBIGUOUS)
    draft = await written(asked)
    assert "60 days" in draft.text
    assert "desk" not in draft.text
    assert (draft.missing, draft.unanswered) == (("who won the chess tournament",), False)


async def test_each_part_is_quoted_from_what_was_judged_for_it() -> None:
    one, other = passage("The porter knows the way."), passage("The porter has the keys.")
    asked = brief("q", one, other, parts=("porter first", "porter second"), values=[(0.1, 0.9), (0.9, 0.1)])
    first, second = (await written(asked)).text.split("\n\n")
    assert first == "The porter has the keys. [2]"
    assert second == "The porter knows the way. [1]"


async def test_a_second_document_is_quoted_where_it_answers_about_as_well() -> None:
    other = passage("Every parent has 60 days of parental leave in Norway too.", title="Norway")
    question = "How many days of parental leave has every parent?"
    both = (await written(brief(question, LEAVE, other, values=[0.8, 0.1, 0.1, 0.8]))).text
    one = (await written(brief(question, LEAVE, other, values=[0.8, 0.1, 0.1, 0.6]))).text
    assert ("[2]" in both, "[2]" in one) == (True, False)


async def test_of_three_documents_that_say_the_same_two_are_quoted() -> None:
    alike = [
        passage(f"Every parent has 60 days of parental leave in office {n}.", title=f"Office {n}") for n in range(3)
    ]
    draft = await written(brief("How many days of parental leave has every parent?", *alike, values=[0.8] * 3))
    assert ("[1]" in draft.text, "[2]" in draft.text, "[3]" in draft.text) == (True, True, False)


LIMITS = passage(
    "Order: up to 1,500; Signs: team leader\n\nOrder: 1,500 to 12,000; Signs: head of section\n\n"
    "Order: above 12,000; Signs: treasurer",
    title="Limits",
)


async def test_of_a_table_by_amounts_the_row_for_the_amount_is_quoted() -> None:
    signs = (await written(brief("Who signs an order of 10,000 crowns?", LIMITS, values=[0.8, 0.7, 0.9]))).text
    assert ("head of section" in signs, "treasurer" in signs, "team leader" in signs) == (True, False, False)
    anybody = (await written(brief("Who signs an order?", LIMITS, values=[0.8, 0.7, 0.9]))).text
    assert "treasurer" in anybody


async def test_no_sentence_is_quoted_twice() -> None:
    twin = replace(LEAVE, id="twin")
    draft = await written(brief("How many days of parental leave do I get?", LEAVE, twin))
    assert draft.text.count("60 days of parental leave") == 1


async def test_two_passages_of_one_document_share_its_number() -> None:
    first = passage("The leave of parents is 60 days long.", document="leave")
    second = passage("The leave of parents is paid in full.", document="leave")
    source = Source(
        number=3,
        title="Leave",
        strips=tuple(Strip(passage=one, start=0, end=len(one.text)) for one in (first, second)),
    )
    draft = await written(replace(brief("How long is the leave of parents and is it paid?"), sources=(source,)))
    assert draft.text.count("[3]") == 2


async def test_web_pages_are_quoted_like_documents() -> None:
    draft = await written(
        brief("What is a Transformer?", page("A Transformer is a neural network built on attention."))
    )
    assert draft.text == "A Transformer is a neural network built on attention. [1]"


async def test_a_slip_of_the_pen_still_finds_its_word() -> None:
    draft = await written(brief("whats the prise of a standnig desk", PRICES, LEAVE))
    assert "540 EUR" in draft.text


async def test_odd_questions_still_get_what_the_sources_say() -> None:
    for question in ("", "???", "the of and", "\0", "育児休暇は何日ですか"):
        assert (await written(brief(question, LEAVE))).text


async def test_a_brief_without_sources_gives_an_empty_draft() -> None:
    assert (await written(brief("What?"))).text == ""


async def test_long_sources_give_a_short_answer() -> None:
    text = "\n\n".join(f"Rule {number} on leave says that leave is granted by lead {number}." for number in range(500))
    draft = await written(brief("Who grants leave?", passage(text)))
    assert len(draft.text) < 1_500


async def test_turns_that_leave_the_memory_stay_in_the_summary_in_short() -> None:
    overflow = ["Question: How long is leave?\nAnswer: It is 60 days [1]. It may be taken in three blocks."]
    standalone = await WRITER.contextualize("How heavy is a desk?", NEW, overflow=overflow, today=TODAY)
    assert standalone.summary == "Question: How long is leave? Answer: It is 60 days [1]."
    assert standalone.question == "How heavy is a desk?"
    assert standalone.calls == ()


async def test_a_summary_stays_short_and_forgets_the_oldest_first() -> None:
    told = Conversation(summary="Question: the very first?")
    overflow = [f"Question: number {number}?\nAnswer: {'word ' * 60}." for number in range(40)]
    standalone = await WRITER.contextualize("And now?", told, overflow=overflow, today=TODAY)
    assert standalone.summary is not None
    assert len(standalone.summary) <= 1_600
    assert "number 39" in standalone.summary
    assert "the very first" not in standalone.summary


async def test_no_overflow_means_no_summary() -> None:
    turn = Turn(question="Leave?", standalone="Leave?", answer="60", sources=[])
    standalone = await WRITER.contextualize("And then?", Conversation(turns=(turn,)), overflow=(), today=TODAY)
    assert standalone.summary is None


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("What are the key updates in AI news from last month?", "key updates in AI news from October 2026"),
        ("What is a Transformer architecture in deep learning?", "Transformer architecture in deep learning"),
        ("Hi there! Could you please tell me the latest GPU prices", "latest GPU prices November 2026"),
        ("Who won yesterday's final?", "won 29 November 2026 final"),
        ("Wie hoch ist der Mindestlohn dieses Jahr in Velland?", "hoch Mindestlohn 2026 in Velland"),
        ("Quelles sont les actualités du mois dernier sur le climat ?", "actualités octobre 2026 climat"),
        ("先月のAIニュースは何ですか？", "2026年10月のAIニュースは何ですか"),
        ("Ask ana@example.org or +49 170 1234567 about GDPR rules", "Ask GDPR rules"),
        ("???", "???"),
    ],
)
async def test_a_web_query_is_keywords_with_dates_and_without_private_details(question: str, query: str) -> None:
    assert (await WRITER.rewrite(question, NEW, today=TODAY)).query == query


async def test_a_web_query_is_cut_at_a_word_border() -> None:
    query = (await WRITER.rewrite("quarterly " * 60, NEW, today=TODAY)).query
    assert 390 <= len(query) <= 400
    assert set(query.split()) == {"quarterly"}


async def test_the_conversation_does_not_leave_for_the_web() -> None:
    turn = Turn(question="What does Ana earn?", standalone="What does Ana earn?", answer="4,200", sources=[])
    talk = Conversation(turns=(turn,), chatter=("Ben: secret",))
    assert (await WRITER.rewrite("minimum wage", talk, today=TODAY)).query == "minimum wage"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["a@", "+1 2", "does it take ", "is it ", ", and ", "A", "1 ", ".", "xyz ", "the the one "]
)
async def test_an_endless_question_is_no_endless_work(piece: str) -> None:
    question = (piece * 40_000)[:40_000]
    talk = Conversation(turns=(Turn(question=question, standalone=question, answer=question, sources=[]),))
    await WRITER.contextualize(question, talk, overflow=[question], today=TODAY)
    await WRITER.contextualize("and it?", talk, overflow=(), today=TODAY)
    assert len((await WRITER.rewrite(question, talk, today=TODAY)).query) <= 400
    assert (await written(brief(question, LEAVE, PRICES))).text

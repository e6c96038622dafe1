from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.experts.answers import LONGEST_ANSWER, LONGEST_QUESTION, CorrectionError, Experts, source_of
from crag_graph.domain import Kind
from crag_graph.knowledge.search import HybridSearch
from tests.bot.experts.conftest import QUESTION, Days, a_correction


async def test_an_answer_is_found_by_its_question_alone_and_cited_with_author_and_day(
    experts: Experts, search: HybridSearch
) -> None:
    await experts.correct(a_correction("16"))
    (found,) = (await search.search(QUESTION, spaces=["T1:C1"], limit=8)).passages
    assert (found.text, found.kind) == ("16", Kind.INTERNAL)
    assert found.title == "Answer by Ada, 2026-12-01: Who waters the plants?"
    assert found.location == "Expert answer › Who waters the plants?"
    assert found.link == "https://acme.slack.test/archives/C1/p1"


async def test_it_is_seen_only_where_it_was_asked(experts: Experts, search: HybridSearch) -> None:
    await experts.correct(a_correction())
    assert (await search.search(QUESTION, spaces=["workspace", "T1:C2"], limit=8)).passages == ()


@pytest.mark.parametrize("again", [QUESTION, "who  waters the plants", "WHO WATERS THE PLANTS?!"])
async def test_the_same_question_again_replaces_what_was_said(
    experts: Experts, search: HybridSearch, again: str
) -> None:
    await experts.correct(a_correction("Ben does."))
    await experts.correct(a_correction("Chidi does.", question=again))
    (found,) = (await search.search(QUESTION, spaces=["T1:C1"], limit=8)).passages
    assert found.text == "Chidi does."
    assert len(await experts.listed(team="T1")) == 1


async def test_a_trace_that_is_corrected_again_with_other_words_or_for_others_has_one_answer(
    experts: Experts, search: HybridSearch
) -> None:
    await experts.correct(a_correction(run="r1"))
    await experts.correct(a_correction(question="Who waters the plants on the roof?", run="r1"))
    await experts.correct(replace(a_correction(run="r1"), space="workspace"))
    spaces = ["T1:C1", "workspace"]
    assert len((await search.search(QUESTION, spaces=spaces, limit=8)).passages) == 1
    await experts.correct(a_correction(question="Who feeds the cat?", run="r2"))
    assert len(await experts.listed(team="T1")) == 2


async def test_an_answer_that_speaks_of_what_is_no_longer_valid_is_itself_valid(
    experts: Experts, search: HybridSearch
) -> None:
    said = "This policy is no longer valid. Replaced by the new handbook."
    await experts.correct(a_correction(said, question="Is the travel policy (old) deprecated?"))
    (found,) = (await search.search("travel policy", spaces=["T1:C1"], limit=8)).passages
    assert not found.superseded


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        (" ", "Ben", "Both are needed"),
        (QUESTION, "\x00\n", "Both are needed"),
        ("x" * (LONGEST_QUESTION + 1), "Ben", "Shorten it"),
        (QUESTION, "x" * (LONGEST_ANSWER + 1), "as a document"),
    ],
)
async def test_what_cannot_be_an_answer_is_refused_with_the_reason(
    experts: Experts, question: str, answer: str, why: str
) -> None:
    with pytest.raises(CorrectionError, match=why):
        await experts.correct(a_correction(answer, question=question))
    assert await experts.listed(team="T1") == ()


async def test_hostile_text_is_stored_as_text(experts: Experts, search: HybridSearch) -> None:
    said = replace(
        a_correction("First.\x00\ud800\n\n# <script>'; DROP TABLE documents; --\n\n[7] <!channel>"),
        author_name="A\nda \x00<@U1>",
        link="javascript:alert(1)",
    )
    stored = await experts.correct(said)
    found = (await search.search(QUESTION, spaces=["T1:C1"], limit=8)).passages
    assert "DROP TABLE documents" in found[0].text
    assert (found[0].link, stored.author_name) == (None, "A da <@U1>")


async def test_after_a_while_somebody_is_asked_once_and_confirming_starts_a_new_while(
    experts: Experts, days: Days
) -> None:
    stored = await experts.correct(a_correction())
    days.go_by(89)
    assert await experts.due() == ()
    days.go_by(2)
    assert [one.document for one in await experts.due()] == [stored.document]
    await experts.reminded(stored.document)
    assert await experts.due() == ()
    confirmed = await experts.confirm(stored.document, team="T1")
    assert confirmed
    assert confirmed.review_at == days.today + timedelta(days=90)
    days.go_by(91)
    assert len(await experts.due()) == 1


async def test_an_answer_for_ever_is_never_due(engine: AsyncEngine, experts: Experts, days: Days) -> None:
    lasting = replace(experts, review_after=None)
    await lasting.correct(a_correction())
    days.go_by(10_000)
    assert await lasting.due() == ()


async def test_other_teams_can_neither_confirm_nor_remove_nor_see_it(experts: Experts) -> None:
    stored = await experts.correct(a_correction())
    assert await experts.confirm(stored.document, team="T2") is None
    assert await experts.remove(stored.document, team="T2") is None
    assert await experts.listed(team="T2") == ()
    assert await experts.find(stored.document, team="T1") == stored


async def test_removed_means_that_answers_use_it_no_more(experts: Experts, search: HybridSearch) -> None:
    stored = await experts.correct(a_correction())
    assert await experts.remove(stored.document, team="T1") == stored
    assert await experts.remove(stored.document, team="T1") is None
    assert (await search.search(QUESTION, spaces=["T1:C1"], limit=8)).passages == ()


async def test_an_author_who_is_erased_leaves_the_answer_without_a_name(experts: Experts, search: HybridSearch) -> None:
    stored = await experts.correct(a_correction())
    assert await experts.disown("U7", team="T1") == 1
    (found,) = (await search.search(QUESTION, spaces=["T1:C1"], limit=8)).passages
    assert (found.text, found.link) == ("Ben does, on Mondays.", None)
    assert found.title == "Answer by a colleague, 2026-12-01: Who waters the plants?"
    kept = await experts.find(stored.document, team="T1")
    document = await experts.ingest.library.document(stored.document)
    assert kept
    assert document
    assert (kept.author, kept.author_name, kept.link, document.added_by) == ("", "", None, "")
    assert await experts.disown("U7", team="T1") == 0


def test_questions_that_differ_in_a_word_have_sources_of_their_own() -> None:
    assert source_of("Who waters the plants?") != source_of("Who eats the plants?")

"""Reviewed traces as cases."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.traces.export import Placeholders, case_of, reviewed
from bot.traces.reading import Filter
from bot.traces.recorder import Recorder
from bot.traces.reviews import Review, add_review
from tests.bot.traces.conftest import Record


async def judge(engine: AsyncEngine, trace: str, review: Review, *, reviewer: str = "U7") -> None:
    assert await add_review(engine, review, team="T1", trace=trace, reviewer=reviewer)


async def cases(engine: AsyncEngine, which: Filter | None = None) -> list[dict[str, Any] | None]:
    return [case_of(trace) async for trace in reviewed(engine, which or Filter())]


async def test_a_case_has_the_verdict_as_it_should_have_been_and_what_was_judged(
    engine: AsyncEngine, record: Record
) -> None:
    await record("first")
    await record("unjudged")
    await judge(engine, "first", Review(verdict="ambiguous", passages={"p1": False}))
    await judge(engine, "first", Review(rating="incomplete", answer="16 weeks, and 4 more."), reviewer="U8")
    (case,) = await cases(engine)
    assert case is not None
    assert (case["verdict"], case["said"], case["rating"]) == ("ambiguous", "correct", "incomplete")
    assert case["answer"] == "16 weeks, and 4 more."
    assert [(passage["title"], passage["relevant"]) for passage in case["passages"]] == [("Leave", False)]


async def test_of_a_good_answer_verdict_and_text_are_the_case_and_of_a_wrong_one_without_more_none_is(
    engine: AsyncEngine, record: Record
) -> None:
    await record("good")
    await record("wrong")
    await judge(engine, "good", Review(rating="good"))
    await judge(engine, "wrong", Review(rating="wrong"))
    good, wrong = await cases(engine)
    assert good is not None
    assert (good["verdict"], good["answer"]) == ("correct", "16 weeks [1].")
    assert wrong is None


async def test_what_was_erased_makes_no_case(engine: AsyncEngine, record: Record, recorder: Recorder) -> None:
    await record("gone")
    await judge(engine, "gone", Review(verdict="incorrect"))
    await recorder.erase_conversation("T1:C1:1")
    assert not [case for case in await cases(engine) if case]


async def test_a_selection_is_exported_oldest_first(engine: AsyncEngine, record: Record) -> None:
    for name in ("one", "two", "three"):
        await record(name)
        await judge(engine, name, Review(rating="wrong" if name == "two" else "good", verdict="correct"))
    assert [case["id"] for case in await cases(engine) if case] == ["one", "two", "three"]
    assert [case["id"] for case in await cases(engine, Filter(review="bad")) if case] == ["two"]


def test_people_channels_and_addresses_become_placeholders_that_stay_the_same() -> None:
    hidden = Placeholders()
    assert (
        hidden.hide("<@U012AB3CD> asked @Anna Bell how, in #team-blue") == "person-1 asked person-2 how, in channel-1"
    )
    assert hidden.hide("@anna bell, Write to Anna@Bell.example") == "person-3 bell, Write to address-1"
    assert hidden.hide("@Anna Bell What does U012AB3CD want?") == "person-2 What does person-1 want?"
    assert hidden.hide("Write to anna@bell.example in <#C012AB3CD|x>") == "Write to address-1 in channel-2"


def test_what_is_no_name_stays_as_it_is() -> None:
    for text in ("C# and issue #12", "# A heading", "GX-900 costs 12 @ noon", "https://a.example/#top", "CHANNELS"):
        assert Placeholders().hide(text) == text
    assert Placeholders().hide_all({"a": ["@Bo", 1, None, True]}) == {"a": ["person-1", 1, None, True]}

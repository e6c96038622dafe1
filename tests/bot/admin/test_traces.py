from datetime import timedelta

import pytest
from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.admin.desk import Desk
from bot.traces.erasing import erase_conversation
from bot.traces.feedback import give_feedback
from bot.traces.reading import Filter, list_traces, show_trace
from bot.traces.reviews import LONGEST_TEXT
from bot.traces.tables import runs
from tests.bot.admin.conftest import Ask, Browser, browser, sign_in
from tests.bot.conftest import LEAVE


async def test_the_list_shows_the_newest_first_and_each_is_a_link(admin: Browser, ask: Ask) -> None:
    older, newer = await ask("How long is leave?"), await ask("How long is parental leave?")
    page = (await admin.opens("/admin/traces")).text
    assert page.index(newer) < page.index(older)
    assert f'href="/admin/traces/{older}"' in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("feedback=unhelpful", ["bad"]),
        ("feedback=none", ["good"]),
        ("verdict=correct&q=weeks", ["bad", "good"]),
        ("verdict=incorrect", []),
        ("q=FIRST", ["bad"]),
        ("q=100%25", []),
        ("person=U1", ["bad", "good"]),
        ("person=U2", []),
        ("model=scripted", ["bad", "good"]),
        ("model=other", []),
        ("errors=1", []),
        ("abstained=1", []),
        ("slow=1", []),
        ("review=none", ["bad", "good"]),
        ("since=2000-01-01&until=2000-01-02", []),
        ("since=2000-01-01", ["bad", "good"]),
        ("channel=C9", []),
        ("q=%00first", ["bad"]),
        ("until=9999-12-31", ["bad", "good"]),
    ],
)
async def test_a_filter_is_a_link(
    admin: Browser, ask: Ask, engine: AsyncEngine, query: str, expected: list[str]
) -> None:
    known = {"bad": await ask("The first question?"), "good": await ask("The second question?")}
    await give_feedback(engine, team="T1", trace=known["bad"], person="U2", helpful=False)
    page = (await admin.opens(f"/admin/traces?{query}")).text
    assert [name for name, trace in known.items() if f'/admin/traces/{trace}"' in page] == expected


@pytest.mark.parametrize(
    "query", ["verdict=perhaps", "since=yesterday", "until=2026-13-01", "state=x", "after=nowhere", "since=0000-00-00"]
)
async def test_what_cannot_be_filtered_by_gets_a_clear_answer(admin: Browser, query: str) -> None:
    answer = await admin.opens(f"/admin/traces?{query}")
    assert answer.status_code == 400
    assert "That does not work" in answer.text


async def test_pages_follow_each_other_without_a_gap(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    first = await ask()
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO runs (id, team, state, question, started_at) SELECT 'run' || n, 'T1', 'answered', 'q' || n,"
                " now() + n * interval '1 second' FROM generate_series(1, 60) AS n"
            )
        )
    page = (await admin.opens("/admin/traces?state=answered")).text
    assert first not in page
    following = page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "state=answered" in following
    rest = (await admin.opens(following)).text
    assert first in rest
    assert 'rel="next"' not in rest


async def test_a_trace_tells_how_its_answer_came_about(admin: Browser, ask: Ask) -> None:
    page = (await admin.opens(f"/admin/traces/{await ask()}")).text
    for told in ("How long is parental leave?", "correct", "0.90", "it says “weeks”", "1 of 1 strips kept", "Leave"):
        assert told in page, told
    assert '<mark class="kept"' in page
    assert page.count('class="box taken"') == 5
    assert "Prompt and reply were not kept" in page


async def test_the_conversation_so_far_is_shown(admin: Browser, ask: Ask) -> None:
    first = await ask("How long is leave?")
    page = (await admin.opens(f"/admin/traces/{await ask('And for adoption?')}")).text
    assert "The conversation so far" in page
    assert f'href="/admin/traces/{first}"' in page


async def test_a_review_is_stored_and_shown(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    trace = await ask()
    page = await admin.opens(f"/admin/traces/{trace}")
    judged = await admin.submits(
        page,
        f"/admin/traces/{trace}/review",
        rating="incomplete",
        verdict="ambiguous",
        note="Says nothing about fathers.",
        answer="16 weeks each.",
        **{f"passage:{LEAVE.id}": "no"},
    )
    for told in (
        "Your review is stored",
        "incomplete",
        "should have been ambiguous",
        "fathers",
        "16 weeks each",
        "1 passage judged",
    ):
        assert told in judged.text, told
    stored = await show_trace(engine, trace)
    assert stored
    assert stored.reviews[0]["passages"] == {LEAVE.id: False}
    assert [run["id"] for run in (await list_traces(engine, Filter(review="bad"))).runs] == [trace]


async def test_two_admins_review_one_trace_and_both_are_kept_the_newest_counts(
    desk: Desk, admin: Browser, ask: Ask
) -> None:
    trace = await ask()
    async with browser(desk) as other:
        await sign_in(other, desk, person="U8")
        pages = [await one.opens(f"/admin/traces/{trace}") for one in (admin, other)]
        await admin.submits(pages[0], f"/admin/traces/{trace}/review", rating="wrong", note="the first note")
        await other.submits(pages[1], f"/admin/traces/{trace}/review", rating="good", note="the second note")
    page = (await admin.opens(f"/admin/traces/{trace}")).text
    assert page.index("the second note") < page.index("the first note")
    assert "reviewed: good" in page


@pytest.mark.parametrize(
    "fields",
    [{}, {"rating": "superb"}, {"verdict": "maybe"}, {"note": "x" * (LONGEST_TEXT + 1)}, {"note": "   "}],
)
async def test_a_review_that_says_nothing_or_nonsense_is_refused(
    admin: Browser, ask: Ask, fields: dict[str, str]
) -> None:
    trace = await ask()
    page = await admin.opens(f"/admin/traces/{trace}")
    answer = await admin.submits(page, f"/admin/traces/{trace}/review", **fields)
    assert answer.status_code == 400
    assert "History" not in (await admin.opens(f"/admin/traces/{trace}")).text


async def test_a_question_is_run_again_and_stands_beside_the_first_run(
    admin: Browser, ask: Ask, engine: AsyncEngine
) -> None:
    await ask("How long is leave?")
    trace = await ask("And for adoption?")
    beside = await admin.submits(await admin.opens(f"/admin/traces/{trace}"), f"/admin/traces/{trace}/again")
    assert "Then" in beside.text
    assert "Now" in beside.text
    assert beside.text.count("Parents get 16 weeks") >= 2
    listed = await list_traces(engine, Filter())
    assert [run["question"] for run in listed.runs] == ["And for adoption?", "How long is leave?"]
    assert "Run again" in (await admin.opens(f"/admin/traces/{trace}")).text


async def test_another_run_is_erased_with_its_conversation(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    trace = await ask("Is my burn-out covered?")
    await admin.submits(await admin.opens(f"/admin/traces/{trace}"), f"/admin/traces/{trace}/again")
    await erase_conversation(engine, "T1:C1:1")
    everything = await list_traces(engine, Filter(reruns=True))
    assert [run["question"] for run in everything.runs] == ["", ""]
    page = await admin.opens(f"/admin/traces/{trace}")
    assert page.status_code == 200
    assert "burn-out" not in page.text


async def test_another_run_belongs_to_no_conversation_and_changes_no_memory(admin: Browser, ask: Ask) -> None:
    trace = await ask("How long is leave?")
    await admin.submits(await admin.opens(f"/admin/traces/{trace}"), f"/admin/traces/{trace}/again")
    page = (await admin.opens(f"/admin/traces/{await ask('And for adoption?')}")).text
    assert page.count('class="said"') == 1


@pytest.mark.parametrize(
    "path", ["/admin/traces/nothing", "/admin/traces/%00", "/admin/traces/%F0%9F%92", "/admin/traces/a/text/secret"]
)
async def test_an_unknown_trace_is_not_found(admin: Browser, path: str) -> None:
    answer = await admin.opens(path)
    assert answer.status_code == 404
    assert "There is no such page" in answer.text


async def test_an_answer_of_a_megabyte_does_not_break_its_pages(admin: Browser, ask: Ask, engine: AsyncEngine) -> None:
    trace = await ask()
    long = "wörter & <b>" * 90_000
    async with engine.begin() as connection:
        await connection.execute(
            update(runs).where(runs.c.id == trace).values(answer=long, started_at=runs.c.started_at - timedelta(days=1))
        )
    assert len((await admin.opens("/admin/traces")).text) < 50_000
    page = await admin.opens(f"/admin/traces/{trace}")
    assert len(page.text) < 200_000
    assert "All 1,080,000 characters" in page.text
    assert (await admin.opens(f"/admin/traces/{trace}/text/answer")).text == long

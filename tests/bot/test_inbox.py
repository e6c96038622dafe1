"""The inbox: received once, claimed by one, done once."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database.engine import open_engine
from bot.inbox import ClaimLostError, Concerned, Inbox, InboxError, Item, Place, Said


@pytest.fixture
def inbox(engine: AsyncEngine) -> Inbox:
    return Inbox(engine)


def item(ts: str = "10.1", **fields: Any) -> Item:
    plain = {"team": "T1", "channel": "C1", "conversation": "T1:C1:10.1", "person": "U0ANN", "payload": {"text": "hi"}}
    return Item(ts=ts, **{**plain, **fields})


async def test_an_item_is_received_once_however_often_it_comes(inbox: Inbox, engine: AsyncEngine) -> None:
    several = await asyncio.gather(*(inbox.receive(item(event_id="Ev1")) for _ in range(5)))
    mention = await inbox.receive(item(event_id="Ev2"))
    assert all((*several, mention))
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM inbox"))).scalar() == 1


async def test_what_is_done_needs_no_work_again(inbox: Inbox) -> None:
    await inbox.receive(item())
    claim = await inbox.claim("T1:C1:10.1")
    assert claim is not None
    await inbox.done(claim)
    assert not await inbox.receive(item(event_id="Ev9"))
    assert await inbox.claim("T1:C1:10.1") is None


async def test_one_event_is_not_two_messages(inbox: Inbox, engine: AsyncEngine) -> None:
    await inbox.receive(item("10.1", event_id="Ev1"))
    await inbox.receive(item("10.2", event_id="Ev1"))
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT ts FROM inbox"))).scalars().all() == ["10.1"]


async def test_items_of_a_conversation_are_claimed_by_age_whatever_order_they_came_in(inbox: Inbox) -> None:
    for ts in ("10.3", "10.1", "10.2"):
        await inbox.receive(item(ts))
    order = []
    while claim := await inbox.claim("T1:C1:10.1"):
        order.append(claim.ts)
        await inbox.done(claim)
    assert order == ["10.1", "10.2", "10.3"]


async def test_a_claim_after_a_crash_knows_what_was_posted_and_prepared(inbox: Inbox) -> None:
    await inbox.receive(item())
    first = await inbox.claim("T1:C1:10.1")
    assert first is not None
    await inbox.posted(first, ["11.1"])
    await inbox.prepared(first, [{"text": "Sixteen weeks."}])
    second = await inbox.claim("T1:C1:10.1")
    assert second is not None
    assert (second.attempt, second.replies, second.outcome) == (2, ("11.1",), [{"text": "Sixteen weeks."}])
    assert second.mark == first.mark
    assert await inbox.said("T1:C1:10.1") == Said(asked=frozenset({"10.1"}), replied=frozenset({"11.1"}))


async def test_an_overtaken_claim_can_change_nothing(inbox: Inbox) -> None:
    await inbox.receive(item())
    first = await inbox.claim("T1:C1:10.1")
    second = await inbox.claim("T1:C1:10.1")
    assert first is not None
    assert second is not None
    for late in (inbox.posted(first, ["11.1"]), inbox.prepared(first, []), inbox.done(first)):
        with pytest.raises(ClaimLostError):
            await late
    await inbox.done(second)
    with pytest.raises(ClaimLostError):
        await inbox.posted(second, ["11.2"])


async def test_a_done_item_holds_no_text(inbox: Inbox, engine: AsyncEngine) -> None:
    await inbox.receive(item())
    claim = await inbox.claim("T1:C1:10.1")
    assert claim is not None
    await inbox.prepared(claim, [{"text": "private"}])
    await inbox.done(claim)
    async with engine.connect() as connection:
        row = (await connection.execute(text("SELECT payload, outcome FROM inbox"))).one()
    assert tuple(row) == (None, None)


async def test_a_conversation_is_joined_with_its_first_item(inbox: Inbox) -> None:
    assert not await inbox.joined("T1:C1:10.1", "U1")
    await inbox.receive(item())
    assert await inbox.joined("T1:C1:10.1", "U1")
    assert not await inbox.joined("T2:C1:10.1", "U1")


async def test_turns_of_bots_are_counted(inbox: Inbox) -> None:
    for number in range(3):
        await inbox.receive(item(f"10.{number}", by_bot=number > 0))
    assert await inbox.bot_turns("T1:C1:10.1") == 2


async def test_only_what_is_being_worked_on_is_stopped(inbox: Inbox) -> None:
    await inbox.receive(item("10.1"))
    await inbox.receive(item("10.2"))
    running = await inbox.claim("T1:C1:10.1")
    assert running is not None
    await inbox.stop("T1:C1:10.1")
    assert await inbox.is_stopped(running)
    await inbox.done(running)
    waiting = await inbox.claim("T1:C1:10.1")
    assert waiting is not None
    assert not await inbox.is_stopped(waiting)


async def test_a_person_finds_their_conversations(inbox: Inbox) -> None:
    await inbox.receive(item("10.1"))
    await inbox.receive(item("20.1", conversation="T1:C1:20.1"))
    await inbox.receive(item("25.1", conversation="ingest:T1:C1:https://x.test"))
    await inbox.receive(item("30.1", conversation="T1:C2:30.1", channel="C2", person="U0BOB"))
    latest = await inbox.latest_conversation(team="T1", channel="C1", person="U0ANN")
    assert latest == "T1:C1:20.1"
    assert await inbox.latest_conversation(team="T1", channel="C2", person="U0ANN") is None
    assert set(await inbox.conversations_of(team="T1", person="U0ANN")) == {"T1:C1:10.1", "T1:C1:20.1"}
    assert await inbox.has_asked("T1:C2:30.1", "U0BOB")
    assert not await inbox.has_asked("T1:C2:30.1", "U0ANN")


async def test_a_forgotten_conversation_says_nothing_and_is_not_answered(inbox: Inbox) -> None:
    await inbox.receive(item("10.1"))
    claim = await inbox.claim("T1:C1:10.1")
    assert claim is not None
    await inbox.forget("T1:C1:10.1")
    with pytest.raises(ClaimLostError):
        await inbox.done(claim)
    assert await inbox.claim("T1:C1:10.1") is None
    assert await inbox.conversations_of(team="T1", person="U0ANN") == ()
    assert not await inbox.receive(item("10.1"))


async def test_old_items_are_deleted_when_their_conversation_has_ended(inbox: Inbox, engine: AsyncEngine) -> None:
    for ts in ("10.1", "20.1"):
        await inbox.receive(item(ts, conversation=f"T1:C1:{ts}"))
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE inbox SET received_at = received_at - interval '40 days'"))
    await inbox.receive(item("20.2", conversation="T1:C1:20.1"))
    assert await inbox.delete_older(datetime.now(UTC) - timedelta(days=50)) == 0
    assert await inbox.delete_older(datetime.now(UTC) - timedelta(days=30)) == 1
    assert await inbox.conversations_of(team="T1", person="U0ANN") == ("T1:C1:20.1",)


async def test_a_database_that_is_away_is_said_so() -> None:
    engine = open_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(InboxError, match="cannot be reached"):
        await Inbox(engine).receive(item())
    await engine.dispose()


HERE = Place(team="T1", channel="C1", ts="10.1", person="U0ANN")


async def test_an_edited_question_is_answered_as_it_reads_now(inbox: Inbox) -> None:
    await inbox.receive(item(payload={"message": {"text": "hi"}}))
    assert await inbox.revise(HERE, "hello \U0001f600") == Concerned(conversation="T1:C1:10.1", done=False)
    first = await inbox.claim("T1:C1:10.1")
    assert first is not None
    assert (first.payload, first.attempt) == ({"message": {"text": "hello \U0001f600"}}, 1)
    await inbox.prepared(first, "an answer")
    await inbox.revise(HERE, "how are you")
    with pytest.raises(ClaimLostError):
        await inbox.is_stopped(first)
    with pytest.raises(ClaimLostError):
        await inbox.done(first)
    second = await inbox.claim("T1:C1:10.1")
    assert second is not None
    assert (second.payload, second.outcome) == ({"message": {"text": "how are you"}}, None)
    await inbox.done(second)
    assert await inbox.revise(HERE, "again") == Concerned(conversation="T1:C1:10.1", done=True)


async def test_what_somebody_else_asked_is_not_revised_and_not_stopped(inbox: Inbox) -> None:
    await inbox.receive(item(payload={"message": {"text": "hi"}}))
    claim = await inbox.claim("T1:C1:10.1")
    assert claim is not None
    other = Place(team="T1", channel="C1", ts="10.1", person="U0BEN")
    assert await inbox.revise(other, "mine") is None
    assert await inbox.stop_one(other) is None
    assert not await inbox.is_stopped(claim)
    assert await inbox.stop_one(HERE) == Concerned(conversation="T1:C1:10.1", done=False)
    assert await inbox.is_stopped(claim)


async def test_a_deleted_question_is_dropped_or_what_is_worked_on_is_to_be_removed(inbox: Inbox) -> None:
    await inbox.receive(item(payload={"message": {"text": "hi"}}))
    assert not await inbox.withdraw(HERE)
    assert await inbox.claim("T1:C1:10.1") is None
    await inbox.receive(item("10.2", payload={"message": {"text": "hi"}}))
    claim = await inbox.claim("T1:C1:10.1")
    assert claim is not None
    await inbox.posted(claim, ["10.3"])
    assert await inbox.withdraw(Place(team="T1", channel="C1", ts="10.2"))
    with pytest.raises(ClaimLostError):
        await inbox.done(claim)
    after = await inbox.claim("T1:C1:10.1")
    assert after is not None
    assert (after.payload, after.replies) == ({"withdrawn": {"text": "hi"}}, ("10.3",))


async def test_a_question_that_was_deleted_before_it_came_is_not_worked_on(inbox: Inbox) -> None:
    assert not await inbox.withdraw(HERE, may_still_come=True)
    assert not await inbox.receive(item(payload={"message": {"text": "hi"}}))
    assert await inbox.claim("T1:C1:10.1") is None
    assert not await inbox.joined("T1:C1:10.1", "U0ANN")


async def test_a_question_is_handed_on_where_somebody_else_has_called_people(inbox: Inbox) -> None:
    press = item("10.2-ask_a_person", event_id="ask_a_person:run", payload={"message": {}})
    await inbox.receive(press)
    claim = await inbox.claim("T1:C1:10.1")
    assert claim is not None
    await inbox.done(claim, ["10.3"])
    for ts, person, conversation, handed in (
        ("10.1", "U0BOB", "T1:C1:10.1", True),
        ("10.1", "U0ANN", "T1:C1:10.1", False),  # who called them goes on with us
        ("10.3", "U0BOB", "T1:C1:10.3", True),  # the call is the root of its own thread
        ("10.9", "U0BOB", "T1:C1:10.9", False),
    ):
        root = Place(team="T1", channel="C1", ts=ts, person=person)
        assert await inbox.handed_on(root, conversation) == handed


async def test_what_is_done_is_not_withdrawn(inbox: Inbox) -> None:
    await inbox.receive(item(payload={"message": {"text": "hi"}}))
    claim = await inbox.claim("T1:C1:10.1")
    assert claim is not None
    await inbox.done(claim)
    assert not await inbox.withdraw(HERE)
    assert await inbox.claim("T1:C1:10.1") is None

"""Each thing that Slack sends is worked on once: received, claimed, replied to, done."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Update, delete, exists, func, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.inbox.items import Claim, ClaimLostError, Concerned, InboxError, Item, Place, Said
from bot.inbox.statements import (
    CLAIM,
    CONCERNED,
    DONE,
    DROP,
    GONE,
    HANDED_ON,
    HOUR,
    JOINED,
    LIMITED,
    OTHER,
    POSTED,
    PREPARED,
    RECEIVE,
    REVISE,
    STANDING,
    STOP,
    WAITS,
    WITHDRAW,
    asked_by,
    nth_before,
    ours,
    this,
)
from bot.inbox.tables import inbox


class Inbox:
    """Every method is one statement, or two that may be cut apart. All raise InboxError."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")

    async def receive(self, item: Item) -> bool:
        """Stores the item unless it is known; True while there is something to do for it."""
        async with self._connected() as connection:
            if (await connection.execute(RECEIVE, vars(item))).first():
                return True
            return (await connection.execute(WAITS, this(item))).first() is not None

    async def joined(self, conversation: str, person: str) -> bool:
        """Have we taken part in this conversation, and may the person go on with it without calling us?

        Where people were called to answer in our place, nobody but who called them goes on with us.
        """
        async with self._connected() as connection:
            (joined, others) = (await connection.execute(JOINED, {"which": conversation, "by": person})).one()
        return bool(joined) and not others

    async def handed_on(self, place: Place, conversation: str) -> bool:
        """Were people called to answer in our place, in this conversation or by the thread's root, which is the place's
        `ts`, and not by the place's person?
        """
        async with self._connected() as connection:
            handed = await connection.execute(HANDED_ON, place.named | {"which": conversation})
            return bool(handed.scalar_one())

    async def bot_turns(self, conversation: str) -> int:
        """How often bots asked in this conversation."""
        turns = select(func.count()).where(inbox.c.conversation == conversation, inbox.c.by_bot)
        async with self._connected() as connection:
            return int((await connection.execute(turns)).scalar_one())

    async def claim(self, conversation: str) -> Claim | None:
        """The oldest waiting item of the conversation; a later claim of it overtakes this one."""
        async with self._connected() as connection:
            row = (await connection.execute(CLAIM, {"which": conversation})).mappings().first()
        return _claimed(row) if row else None

    async def posted(self, claim: Claim, replies: Sequence[str]) -> None:
        """Records what is posted so far. Raises ClaimLostError."""
        await self._change(POSTED, claim, {"replies": list(replies)})

    async def full_until(self, claim: Claim, limits: Mapping[str, int]) -> datetime | None:
        """When there is room for the item again, where as many questions as the `limits` allow came in the hour before
        it, by `person`, `channel` or `team`; None where there is room. It is counted by what was received, in its
        order: however many processes ask at once, no more than the limit are let through. What is limited is not
        counted against what follows.
        """
        async with self._connected() as connection:
            found = [
                (await connection.execute(nth_before(claim, scope), {"skipped": most - 1})).scalar()
                for scope, most in limits.items()
            ]
            full = max((at for at in found if at), default=None)
            if full is None:
                return None
            await connection.execute(LIMITED, ours(claim))
            return full + HOUR

    async def prepared(self, claim: Claim, outcome: Any) -> None:
        """Records what is to be posted: another attempt posts this and works nothing out again."""
        await self._change(PREPARED, claim, {"outcome": outcome})

    async def done(self, claim: Claim, replies: Sequence[str] | None = None) -> bool:
        """Nothing is left to do for the item; `replies` are then known to be posted for it. True: another one waits."""
        known = None if replies is None else list(replies)
        async with self._connected() as connection:
            row = (await connection.execute(DONE, ours(claim) | {"replies": known})).first()
        if row is None:
            raise ClaimLostError(claim.conversation)
        return bool(row[0])

    async def said(self, conversation: str) -> "Said":
        """What is known to stand in the conversation."""
        items = select(inbox.c.ts, inbox.c.replies).where(inbox.c.conversation == conversation)
        async with self._connected() as connection:
            rows = (await connection.execute(items)).all()
        return Said(
            asked=frozenset(row.ts for row in rows), replied=frozenset(ts for row in rows for ts in row.replies)
        )

    async def stop(self, conversation: str) -> None:
        """The asker wants what is being worked on to end."""
        running = inbox.c.attempts > 0
        where = (inbox.c.conversation == conversation) & running & inbox.c.done_at.is_(None)
        async with self._connected() as connection:
            await connection.execute(update(inbox).where(where).values(stopped=True))

    async def concerned(self, place: Place) -> Concerned | None:
        """What the person has asked there; None where it is nothing, or forgotten."""
        async with self._connected() as connection:
            return await _concerned(connection, place)

    async def stop_one(self, place: Place) -> Concerned | None:
        """The person wants this one item to end, whether it is worked on or waits; None where it is not theirs."""
        async with self._connected() as connection:
            await connection.execute(STOP, place.named)
            return await _concerned(connection, place)

    async def is_stopped(self, claim: Claim) -> bool:
        """Raises ClaimLostError, also where the question was edited, deleted or forgotten meanwhile."""
        async with self._connected() as connection:
            row = (await connection.execute(STANDING, ours(claim))).first()
        if row is None:
            raise ClaimLostError(claim.conversation)
        return bool(row[0])

    async def revise(self, place: Place, text: str) -> Concerned | None:
        """The person's question reads like this now. What is not done is answered so, from the start.

        Tells whether it was done before; None where the person has asked nothing there.
        """
        async with self._connected() as connection:
            await connection.execute(REVISE, place.named | {"text_now": text})
            return await _concerned(connection, place)

    async def withdraw(self, place: Place, *, may_still_come: bool = False) -> bool:
        """The question is gone: what waits is dropped, and for what is worked on its traces are to be removed.

        True where that is to be done. Whatever is done stays as it is. `may_still_come`: Slack's events may overtake
        one another, so what is not known is dropped when it comes.
        """
        gone = {"done_at": func.now(), "payload": None, "outcome": None}
        async with self._connected() as connection:
            if may_still_come:  # first: a question that comes at this moment finds it, or is found below
                await connection.execute(GONE.values(_unborn(place)))
            await connection.execute(DROP.values(gone), place.named)
            return (await connection.execute(WITHDRAW, place.named)).rowcount > 0

    async def latest_conversation(self, *, team: str, channel: str, person: str) -> str | None:
        """The conversation in which the person asked last in this channel."""
        mine = asked_by(team, person) & (inbox.c.channel == channel)
        async with self._connected() as connection:
            found = await connection.execute(
                select(inbox.c.conversation).where(mine).order_by(inbox.c.received_at.desc()).limit(1)
            )
            return found.scalar()

    async def conversations_of(self, *, team: str, person: str) -> tuple[str, ...]:
        mine = select(inbox.c.conversation).distinct().where(asked_by(team, person))
        async with self._connected() as connection:
            return tuple((await connection.execute(mine)).scalars())

    async def has_asked(self, conversation: str, person: str) -> bool:
        asked = select(inbox.c.ts).where(inbox.c.conversation == conversation, inbox.c.person == person).limit(1)
        async with self._connected() as connection:
            return (await connection.execute(asked)).first() is not None

    async def is_quiet(self, conversation: str, since: datetime) -> bool:
        """Nothing came in the conversation since then."""
        later = exists().where(inbox.c.conversation == conversation, inbox.c.received_at >= since)
        async with self._connected() as connection:
            return not (await connection.execute(select(later))).scalar_one()

    async def forget(self, conversation: str) -> None:
        """Empties the conversation's items; what waits is dropped. The ids stay, so that nothing is answered twice."""
        blank = {"payload": None, "outcome": None, "person": "", "done_at": func.coalesce(inbox.c.done_at, func.now())}
        async with self._connected() as connection:
            await connection.execute(update(inbox).where(inbox.c.conversation == conversation).values(blank))

    async def delete_older(self, before: datetime) -> int:
        """Deletes the items of conversations in which nothing came since; returns how many there were.

        As long as a conversation goes on, it remembers; its items tell whose questions those are. What has waited for
        so long is not worked on any more.
        """
        newer = exists().where(OTHER.c.conversation == inbox.c.conversation, OTHER.c.received_at >= before)
        old = delete(inbox).where(inbox.c.received_at < before, ~newer)
        async with self._connected() as connection:
            return (await connection.execute(old)).rowcount

    async def _change(self, statement: Update, claim: Claim, values: Mapping[str, Any]) -> None:
        async with self._connected() as connection:
            if not (await connection.execute(statement, {**ours(claim), **values})).rowcount:
                raise ClaimLostError(claim.conversation)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise InboxError from error


async def _concerned(connection: AsyncConnection, place: Place) -> Concerned | None:
    row = (await connection.execute(CONCERNED, place.named)).first()
    return Concerned(conversation=row[0], done=row[1]) if row else None


def _unborn(place: Place) -> dict[str, Any]:
    """An item without a person, a text, or a conversation that could go on."""
    where = {"team": place.team, "channel": place.channel, "ts": place.ts}
    return {**where, "conversation": f"gone:{':'.join(where.values())}", "done_at": func.now()}


def _claimed(row: Mapping[str, Any]) -> Claim:
    same = ("team", "channel", "ts", "conversation", "person", "payload", "mark", "outcome")
    return Claim(attempt=row["attempts"], replies=tuple(row["replies"]), **{name: row[name] for name in same})

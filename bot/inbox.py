"""Each thing that Slack sends is worked on once: received, claimed, replied to, done."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    Index,
    Integer,
    MetaData,
    Select,
    Table,
    Text,
    Update,
    Uuid,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

metadata = MetaData()

HOUR = timedelta(hours=1)
"""That limits are for."""

inbox = Table(
    "inbox",
    metadata,
    Column("team", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("ts", Text, primary_key=True),
    Column("event_id", Text, unique=True),
    Column("conversation", Text, nullable=False),
    Column("person", Text, nullable=False, server_default=""),
    Column("by_bot", Boolean, nullable=False, server_default=text("false")),
    Column("payload", JSONB(none_as_null=True)),
    Column("received_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("mark", Uuid, nullable=False, server_default=func.gen_random_uuid()),
    Column("replies", ARRAY(Text), nullable=False, server_default="{}"),
    Column("outcome", JSONB(none_as_null=True)),
    Column("stopped", Boolean, nullable=False, server_default=text("false")),
    Column("limited", Boolean, nullable=False, server_default=text("false")),
    Column("done_at", DateTime(timezone=True)),
    Index("inbox_waiting", "conversation", "ts", postgresql_where=text("done_at IS NULL")),
    Index("inbox_of_conversation", "conversation"),
    Index("inbox_of_person", "team", "person", "received_at"),
)
"""`payload` and `outcome` hold private text and are emptied when the item is done."""


_THIS = and_(*(inbox.c[name] == bindparam(f"this_{name}") for name in ("team", "channel", "ts")))
_OURS = and_(_THIS, inbox.c.attempts == bindparam("this_attempt"), inbox.c.done_at.is_(None))
"""The item, as long as nobody has overtaken the claim."""
_OLDEST = (
    select(inbox.c.team, inbox.c.channel, inbox.c.ts)
    .where(inbox.c.conversation == bindparam("which"), inbox.c.done_at.is_(None))
    .order_by(inbox.c.ts)
    .limit(1)
    .with_for_update()
    .subquery()
)
_OTHER = inbox.alias()
_OTHERS_WAIT = exists().where(
    _OTHER.c.conversation == inbox.c.conversation, _OTHER.c.done_at.is_(None), _OTHER.c.ts != inbox.c.ts
)

# Built once: to build them costs more than to send them.
_RECEIVE = insert(inbox).on_conflict_do_nothing().returning(inbox.c.ts)
_WAITS = select(inbox.c.ts).where(_THIS, inbox.c.done_at.is_(None))
_STANDING = select(inbox.c.stopped).where(_OURS)
_CONCERNED = select(inbox.c.conversation, inbox.c.done_at.is_not(None)).where(_THIS, inbox.c.person == bindparam("by"))
# What is worked on is overtaken: its claim is lost, and the next one finds what is to be done instead.
_OVERTAKEN: dict[str, Any] = {"attempts": inbox.c.attempts + 1, "outcome": None, "stopped": False}
_REVISE = (
    update(inbox)
    .where(_THIS, inbox.c.person == bindparam("by"), inbox.c.done_at.is_(None), inbox.c.payload.has_key("message"))
    .values(
        _OVERTAKEN
        | {
            "attempts": inbox.c.attempts + case((inbox.c.attempts > 0, 1), else_=0),
            "payload": func.jsonb_set(inbox.c.payload, ["message", "text"], bindparam("text_now", type_=JSONB)),
        }
    )
)
_DROP = update(inbox).where(_THIS, inbox.c.done_at.is_(None), inbox.c.attempts == 0)
_WITHDRAW = (
    update(inbox)
    .where(_THIS, inbox.c.done_at.is_(None), inbox.c.payload.has_key("message"))
    .values(_OVERTAKEN | {"payload": func.jsonb_build_object("withdrawn", inbox.c.payload["message"])})
)
_STOP = (
    update(inbox)
    .where(_THIS, inbox.c.person == bindparam("by"), inbox.c.done_at.is_(None))
    .values(stopped=True)
    .returning(inbox.c.ts)
)
_CLAIM = (
    update(inbox)
    .where(*(inbox.c[name] == _OLDEST.c[name] for name in ("team", "channel", "ts")))
    .values(attempts=inbox.c.attempts + 1)
    .returning(inbox)
)
_POSTED = update(inbox).where(_OURS).values(replies=bindparam("replies"))
_PREPARED = update(inbox).where(_OURS).values(outcome=bindparam("outcome"))
_LIMITED = update(inbox).where(_OURS).values(limited=True)
_DONE = (
    update(inbox)
    .where(_OURS)
    .values(
        replies=func.coalesce(bindparam("replies", type_=inbox.c.replies.type), inbox.c.replies),
        done_at=func.now(),
        payload=None,
        outcome=None,
    )
    .returning(_OTHERS_WAIT)
)


class InboxError(Exception):
    """The inbox cannot be reached."""

    def __str__(self) -> str:
        return self.__doc__ or ""


class ClaimLostError(Exception):
    """Somebody else has taken the item over, or it was forgotten: whoever worked on it stops."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """Something to work on. Slack's event id and (team, channel, ts) are each seen once."""

    team: str
    channel: str
    ts: str
    conversation: str
    person: str
    payload: Mapping[str, Any]
    """Plain data, cleaned."""
    event_id: str | None = None
    by_bot: bool = False


@dataclass(frozen=True, kw_only=True)
class Claim:
    """An item that is worked on, for the `attempt`th time."""

    team: str
    channel: str
    ts: str
    conversation: str
    person: str
    payload: Mapping[str, Any]
    attempt: int
    mark: uuid.UUID
    """Opaque; what is posted for this item carries it, and is found by it again."""
    replies: tuple[str, ...] = ()
    """The ts of what is known to be posted for it, in order."""
    outcome: Any = None
    """What is ready to be posted, as plain data."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """The ts of all that was asked in a conversation, and of all that was posted for it."""

    asked: frozenset[str]
    replied: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an item came from, and whose it is to change it."""

    team: str
    channel: str
    ts: str
    person: str = ""

    @property
    def named(self) -> dict[str, Any]:
        return {"this_team": self.team, "this_channel": self.channel, "this_ts": self.ts, "by": self.person}


@dataclass(frozen=True, kw_only=True)
class Concerned:
    """An item that somebody wanted to change, in its conversation; `done`: it was too late."""

    conversation: str
    done: bool


class Inbox:
    """Every method is one statement, or two that may be cut apart. All raise InboxError."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")

    async def receive(self, item: Item) -> bool:
        """Stores the item unless it is known; True while there is something to do for it."""
        async with self._connected() as connection:
            if (await connection.execute(_RECEIVE, vars(item))).first():
                return True
            return (await connection.execute(_WAITS, _this(item))).first() is not None

    async def joined(self, conversation: str) -> bool:
        """Have we taken part in this conversation?"""
        async with self._connected() as connection:
            found = await connection.execute(select(inbox.c.ts).where(inbox.c.conversation == conversation).limit(1))
            return found.first() is not None

    async def bot_turns(self, conversation: str) -> int:
        """How often bots asked in this conversation."""
        turns = select(func.count()).where(inbox.c.conversation == conversation, inbox.c.by_bot)
        async with self._connected() as connection:
            return int((await connection.execute(turns)).scalar_one())

    async def claim(self, conversation: str) -> Claim | None:
        """The oldest waiting item of the conversation; a later claim of it overtakes this one."""
        async with self._connected() as connection:
            row = (await connection.execute(_CLAIM, {"which": conversation})).mappings().first()
        return _claimed(row) if row else None

    async def posted(self, claim: Claim, replies: Sequence[str]) -> None:
        """Records what is posted so far. Raises ClaimLostError."""
        await self._change(_POSTED, claim, {"replies": list(replies)})

    async def full_until(self, claim: Claim, limits: Mapping[str, int]) -> datetime | None:
        """When there is room for the item again, where as many questions as the `limits` allow came in the hour before
        it, by `person`, `channel` or `team`; None where there is room. It is counted by what was received, in its
        order: however many processes ask at once, no more than the limit are let through. What is limited is not
        counted against what follows.
        """
        async with self._connected() as connection:
            found = [
                (await connection.execute(_nth_before(claim, scope), {"skipped": most - 1})).scalar()
                for scope, most in limits.items()
            ]
            full = max((at for at in found if at), default=None)
            if full is None:
                return None
            await connection.execute(_LIMITED, _ours(claim))
            return full + HOUR

    async def prepared(self, claim: Claim, outcome: Any) -> None:
        """Records what is to be posted: another attempt posts this and works nothing out again."""
        await self._change(_PREPARED, claim, {"outcome": outcome})

    async def done(self, claim: Claim, replies: Sequence[str] | None = None) -> bool:
        """Nothing is left to do for the item; `replies` are then known to be posted for it. True: another one waits."""
        known = None if replies is None else list(replies)
        async with self._connected() as connection:
            row = (await connection.execute(_DONE, _ours(claim) | {"replies": known})).first()
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
            await connection.execute(_STOP, place.named)
            return await _concerned(connection, place)

    async def is_stopped(self, claim: Claim) -> bool:
        """Raises ClaimLostError, also where the question was edited, deleted or forgotten meanwhile."""
        async with self._connected() as connection:
            row = (await connection.execute(_STANDING, _ours(claim))).first()
        if row is None:
            raise ClaimLostError(claim.conversation)
        return bool(row[0])

    async def revise(self, place: Place, text: str) -> Concerned | None:
        """The person's question reads like this now. What is not done is answered so, from the start.

        Tells whether it was done before; None where the person has asked nothing there.
        """
        async with self._connected() as connection:
            await connection.execute(_REVISE, place.named | {"text_now": text})
            return await _concerned(connection, place)

    async def withdraw(self, place: Place) -> bool:
        """The question is gone: what waits is dropped, and for what is worked on its traces are to be removed.

        True where that is to be done. Whatever is done stays as it is.
        """
        gone = {"done_at": func.now(), "payload": None, "outcome": None}
        async with self._connected() as connection:
            await connection.execute(_DROP.values(gone), place.named)
            return (await connection.execute(_WITHDRAW, place.named)).rowcount > 0

    async def latest_conversation(self, *, team: str, channel: str, person: str) -> str | None:
        """The conversation in which the person asked last in this channel."""
        mine = _of(team, person) & (inbox.c.channel == channel)
        async with self._connected() as connection:
            found = await connection.execute(
                select(inbox.c.conversation).where(mine).order_by(inbox.c.received_at.desc()).limit(1)
            )
            return found.scalar()

    async def conversations_of(self, *, team: str, person: str) -> tuple[str, ...]:
        mine = select(inbox.c.conversation).distinct().where(_of(team, person))
        async with self._connected() as connection:
            return tuple((await connection.execute(mine)).scalars())

    async def has_asked(self, conversation: str, person: str) -> bool:
        asked = select(inbox.c.ts).where(inbox.c.conversation == conversation, inbox.c.person == person).limit(1)
        async with self._connected() as connection:
            return (await connection.execute(asked)).first() is not None

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
        newer = exists().where(_OTHER.c.conversation == inbox.c.conversation, _OTHER.c.received_at >= before)
        old = delete(inbox).where(inbox.c.received_at < before, ~newer)
        async with self._connected() as connection:
            return (await connection.execute(old)).rowcount

    async def _change(self, statement: Update, claim: Claim, values: Mapping[str, Any]) -> None:
        async with self._connected() as connection:
            if not (await connection.execute(statement, {**_ours(claim), **values})).rowcount:
                raise ClaimLostError(claim.conversation)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise InboxError from error


async def _concerned(connection: AsyncConnection, place: Place) -> Concerned | None:
    row = (await connection.execute(_CONCERNED, place.named)).first()
    return Concerned(conversation=row[0], done=row[1]) if row else None


def _this(item: Item | Claim) -> dict[str, Any]:
    return {"this_team": item.team, "this_channel": item.channel, "this_ts": item.ts}


def _ours(claim: Claim) -> dict[str, Any]:
    return _this(claim) | {"this_attempt": claim.attempt}


def _nth_before(claim: Claim, scope: str) -> Select[datetime]:
    """When the question came in that leaves no room for this one: so many were let through since, in its hour."""
    this = select(inbox.c.received_at).where(_at(claim)).scalar_subquery()
    same = {
        "person": inbox.c.person == claim.person,
        "channel": inbox.c.channel == claim.channel,
        "team": inbox.c.team == claim.team,
    }
    earlier = tuple_(inbox.c.received_at, inbox.c.ts) < tuple_(this, claim.ts)
    asked = inbox.c.conversation.startswith(f"{claim.team}:", autoescape=True)
    return (
        select(inbox.c.received_at)
        .where(inbox.c.team == claim.team, same[scope], asked, ~inbox.c.limited, earlier)
        .where(inbox.c.received_at > this - HOUR)
        .order_by(inbox.c.received_at.desc(), inbox.c.ts.desc())
        .offset(bindparam("skipped"))
        .limit(1)
    )


def _at(claim: Claim) -> ColumnElement[bool]:
    return and_(inbox.c.team == claim.team, inbox.c.channel == claim.channel, inbox.c.ts == claim.ts)


def _of(team: str, person: str) -> ColumnElement[bool]:
    """What the person asked. Other work of theirs (a document, a wish to forget) is no conversation of the team's."""
    asked = inbox.c.conversation.startswith(f"{team}:", autoescape=True)
    return (inbox.c.team == team) & (inbox.c.person == person) & asked


def _claimed(row: Mapping[str, Any]) -> Claim:
    same = ("team", "channel", "ts", "conversation", "person", "payload", "mark", "outcome")
    return Claim(attempt=row["attempts"], replies=tuple(row["replies"]), **{name: row[name] for name in same})

"""The statements of the inbox; built once where they can be: to build them costs more than to send them."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, any_, bindparam, case, exists, func, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import JSONB, insert

from bot.inbox.items import Claim, Item
from bot.inbox.tables import inbox

HOUR = timedelta(hours=1)
"""That limits are for."""

THIS = and_(*(inbox.c[name] == bindparam(f"this_{name}") for name in ("team", "channel", "ts")))
OURS = and_(THIS, inbox.c.attempts == bindparam("this_attempt"), inbox.c.done_at.is_(None))
"""The item, as long as nobody has overtaken the claim."""
OLDEST = (
    select(inbox.c.team, inbox.c.channel, inbox.c.ts)
    .where(inbox.c.conversation == bindparam("which"), inbox.c.done_at.is_(None))
    .order_by(inbox.c.ts)
    .limit(1)
    .with_for_update()
    .subquery()
)
OTHER = inbox.alias()
_OTHERS_WAIT = exists().where(
    OTHER.c.conversation == inbox.c.conversation, OTHER.c.done_at.is_(None), OTHER.c.ts != inbox.c.ts
)

RECEIVE = insert(inbox).on_conflict_do_nothing().returning(inbox.c.ts)
WAITS = select(inbox.c.ts).where(THIS, inbox.c.done_at.is_(None))
STANDING = select(inbox.c.stopped).where(OURS)
CONCERNED = select(inbox.c.conversation, inbox.c.done_at.is_not(None)).where(THIS, inbox.c.person == bindparam("by"))
# What is worked on is overtaken: its claim is lost, and the next one finds what is to be done instead.
OVERTAKEN: dict[str, Any] = {"attempts": inbox.c.attempts + 1, "outcome": None, "stopped": False}
REVISE = (
    update(inbox)
    .where(THIS, inbox.c.person == bindparam("by"), inbox.c.done_at.is_(None), inbox.c.payload.has_key("message"))
    .values(
        OVERTAKEN
        | {
            "attempts": inbox.c.attempts + case((inbox.c.attempts > 0, 1), else_=0),
            "payload": func.jsonb_set(inbox.c.payload, ["message", "text"], bindparam("text_now", type_=JSONB)),
        }
    )
)
DROP = update(inbox).where(THIS, inbox.c.done_at.is_(None), inbox.c.attempts == 0)
GONE = insert(inbox).on_conflict_do_nothing()
"""An item that is done before it comes."""
WITHDRAW = (
    update(inbox)
    .where(THIS, inbox.c.done_at.is_(None), inbox.c.payload.has_key("message"))
    .values(OVERTAKEN | {"payload": func.jsonb_build_object("withdrawn", inbox.c.payload["message"])})
)
STOP = (
    update(inbox)
    .where(THIS, inbox.c.person == bindparam("by"), inbox.c.done_at.is_(None))
    .values(stopped=True)
    .returning(inbox.c.ts)
)
_IN_CONVERSATION = inbox.c.conversation == bindparam("which")
CALLED = "ask_a_person:"
"""The event id of an item begins with this where people were called to answer in our place."""
JOINED = select(
    exists().where(_IN_CONVERSATION),
    exists().where(_IN_CONVERSATION, inbox.c.event_id.startswith(CALLED), inbox.c.person != bindparam("by")),
)
HANDED_ON = select(
    exists().where(
        inbox.c.team == bindparam("this_team"),
        inbox.c.channel == bindparam("this_channel"),
        inbox.c.event_id.startswith(CALLED),
        inbox.c.person != bindparam("by"),
        or_(_IN_CONVERSATION, bindparam("this_ts") == any_(inbox.c.replies)),
    )
)
"""The call stands in the thread, or, where nobody else saw the question, it is the thread's root itself."""
CLAIM = (
    update(inbox)
    .where(*(inbox.c[name] == OLDEST.c[name] for name in ("team", "channel", "ts")))
    .values(attempts=inbox.c.attempts + 1)
    .returning(inbox)
)
POSTED = update(inbox).where(OURS).values(replies=bindparam("replies"))
PREPARED = update(inbox).where(OURS).values(outcome=bindparam("outcome"))
LIMITED = update(inbox).where(OURS).values(limited=True)
DONE = (
    update(inbox)
    .where(OURS)
    .values(
        replies=func.coalesce(bindparam("replies", type_=inbox.c.replies.type), inbox.c.replies),
        done_at=func.now(),
        payload=None,
        outcome=None,
    )
    .returning(_OTHERS_WAIT)
)


def this(item: Item | Claim) -> dict[str, Any]:
    return {"this_team": item.team, "this_channel": item.channel, "this_ts": item.ts}


def ours(claim: Claim) -> dict[str, Any]:
    return this(claim) | {"this_attempt": claim.attempt}


def nth_before(claim: Claim, scope: str) -> Select[datetime]:
    """When the question came in that leaves no room for this one: so many were let through since, in its hour."""
    this = select(inbox.c.received_at).where(at(claim)).scalar_subquery()
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


def at(claim: Claim) -> ColumnElement[bool]:
    return and_(inbox.c.team == claim.team, inbox.c.channel == claim.channel, inbox.c.ts == claim.ts)


def asked_by(team: str, person: str) -> ColumnElement[bool]:
    """What the person asked. Other work of theirs (a document, a wish to forget) is no conversation of the team's."""
    asked = inbox.c.conversation.startswith(f"{team}:", autoescape=True)
    return (inbox.c.team == team) & (inbox.c.person == person) & asked

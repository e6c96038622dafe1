"""Tables of the traces: a run and its steps, what the asker thought of it, what a reviewer decided.

A trace keeps the texts that it saw: documents change and go, and what was answered must stay explainable.
"""

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    desc,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData()


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


def _of_run() -> Column[str]:
    return Column("run", Text, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _moment(name: str) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())


runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("team", Text, nullable=False),
    _text("channel"),
    _text("conversation"),
    _text("asker"),
    _text("permalink"),
    Column("state", Text, nullable=False),
    _text("question"),
    _text("standalone"),
    Column("verdict", Text),
    _text("reason"),
    _text("web_query"),
    _text("answer"),
    Column("abstention", Text),
    Column("quoted", Boolean, nullable=False, server_default=text("false")),
    _text("notice"),
    Column("citations", JSONB, nullable=False, server_default=text("'[]'")),
    Column("calls", Integer, nullable=False, server_default="0"),
    Column("prompt_tokens", Integer, nullable=False, server_default="0"),
    Column("completion_tokens", Integer, nullable=False, server_default="0"),
    Column("faults", Integer, nullable=False, server_default="0"),
    _text("error"),
    Column("milliseconds", Float),
    _text("settings"),
    _text("version"),
    _moment("started_at"),
    Column("finished_at", DateTime(timezone=True)),
    Column("erased_at", DateTime(timezone=True)),
    Index("runs_newest", "team", desc("started_at"), desc("id")),
    Index("runs_of_conversation", "conversation"),
    Index("runs_of_asker", "team", "asker"),
)

steps = Table(
    "steps",
    metadata,
    _of_run(),
    Column("ordinal", Integer, primary_key=True),
    Column("node", Text, nullable=False),
    Column("milliseconds", Float, nullable=False),
    Column("detail", JSONB, nullable=False),
    Column("calls", JSONB, nullable=False),
    Column("faults", JSONB, nullable=False),
)

feedback = Table(
    "feedback",
    metadata,
    _of_run(),
    Column("person", Text, primary_key=True),
    Column("team", Text, nullable=False),
    Column("helpful", Boolean, nullable=False),
    _text("note"),
    _moment("given_at"),
    Index("feedback_of_person", "team", "person"),
)

reviews = Table(
    "reviews",
    metadata,
    _of_run(),
    Column("reviewer", Text, primary_key=True),
    Column("team", Text, nullable=False),
    Column("good", Boolean, nullable=False),
    Column("verdict", Text),
    _text("answer"),
    Column("passages", JSONB, nullable=False, server_default=text("'{}'")),
    _text("note"),
    _moment("reviewed_at"),
)

"""Tables of the traces: a run and its steps, what askers thought, what reviewers decided, and the gaps that show.

A trace keeps the texts that it saw: documents change and go, and what was answered must stay explainable.
"""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    Uuid,
    desc,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


def _of_run(*, one: bool = True) -> Column[str]:
    """`one`: the row is named by its run."""
    return Column("run", Text, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=one, nullable=False)


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
    _text("model"),
    Column("spaces", ARRAY(Text), nullable=False, server_default="{}"),
    Column("heard", ARRAY(Text), nullable=False, server_default="{}"),
    _text("rerun_of"),
    Column("review", Text),
    _moment("started_at"),
    Column("finished_at", DateTime(timezone=True)),
    Column("erased_at", DateTime(timezone=True)),
    Index("runs_of_conversation", "conversation"),
    Index("runs_of_asker", "team", "asker"),
    Index("runs_question_text", "question", postgresql_using="gin", postgresql_ops={"question": "gin_trgm_ops"}),
    Index("runs_answer_text", "answer", postgresql_using="gin", postgresql_ops={"answer": "gin_trgm_ops"}),
    # Lists are filtered and figures are counted in this index alone: the rows with their texts are many times larger.
    Index(
        "runs_listed",
        "team",
        desc("started_at"),
        desc("id"),
        postgresql_include=[
            "rerun_of",
            "state",
            "verdict",
            "abstention",
            "channel",
            "asker",
            "model",
            "review",
            "prompt_tokens",
            "completion_tokens",
            "milliseconds",
            "faults",
        ],
    ),
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
    Index("feedback_unhelpful", "team", "run", postgresql_where=text("NOT helpful")),
)

# Every judgement is kept; the newest one of a run is repeated in `runs.review`, for the list.
reviews = Table(
    "reviews",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    _of_run(one=False),
    Column("reviewer", Text, nullable=False),
    Column("team", Text, nullable=False),
    Column("rating", Text),
    Column("verdict", Text),
    _text("answer"),
    Column("passages", JSONB, nullable=False, server_default=text("'{}'")),
    _text("note"),
    _moment("reviewed_at"),
    Index("reviews_of_run", "run"),
)

# Questions without a good answer, grouped by meaning. A group keeps no text: what it is about, its runs tell.
gaps = Table(
    "gaps",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("team", Text, nullable=False),
    Column("state", Text, nullable=False, server_default="open"),
    Column("changed_by", Text, nullable=False, server_default=""),
    _moment("changed_at"),
    Index("gaps_of_team", "team"),
)

gap_runs = Table(
    "gap_runs",
    metadata,
    _of_run(),
    Column("gap", BigInteger, ForeignKey("gaps.id", ondelete="CASCADE"), nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    Column("unanswered", Boolean, nullable=False),
    Column("model", Text, nullable=False),
    Column("embedding", HALFVEC, nullable=False),
    Index("gap_runs_of_gap", "gap", postgresql_include=["run", "asked_at", "unanswered"]),
)

# Askers who want to hear of an answer as soon as there is one. `mark` marks the message that tells them; `tried_at`:
# it was about to be sent, so that it is looked for before it is sent again.
wishes = Table(
    "wishes",
    metadata,
    _of_run(),
    Column("team", Text, nullable=False),
    Column("person", Text, nullable=False),
    _moment("wished_at"),
    Column("mark", Uuid, nullable=False, server_default=func.gen_random_uuid()),
    Column("tried_at", DateTime(timezone=True)),
    Column("told_at", DateTime(timezone=True)),
    Index("wishes_of_person", "team", "person"),
)

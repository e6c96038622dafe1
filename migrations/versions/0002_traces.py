"""The traces: runs, their steps, feedback and reviews."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "0002_traces"
down_revision: str | None = "0001_library"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        _text("channel"),
        _text("conversation"),
        _text("asker"),
        _text("permalink"),
        sa.Column("state", sa.Text, nullable=False),
        _text("question"),
        _text("standalone"),
        sa.Column("verdict", sa.Text),
        _text("reason"),
        _text("web_query"),
        _text("answer"),
        sa.Column("abstention", sa.Text),
        sa.Column("quoted", sa.Boolean, nullable=False, server_default=sa.text("false")),
        _text("notice"),
        sa.Column("citations", JSONB, nullable=False, server_default=sa.text("'[]'")),
        sa.Column("calls", sa.Integer, nullable=False, server_default="0"),
        sa.Column("prompt_tokens", sa.Integer, nullable=False, server_default="0"),
        sa.Column("completion_tokens", sa.Integer, nullable=False, server_default="0"),
        sa.Column("faults", sa.Integer, nullable=False, server_default="0"),
        _text("error"),
        sa.Column("milliseconds", sa.Float),
        _text("settings"),
        _text("version"),
        _moment("started_at"),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("erased_at", sa.DateTime(timezone=True)),
    )
    op.create_index("runs_newest", "runs", ["team", sa.text("started_at DESC"), sa.text("id DESC")])
    op.create_index("runs_of_conversation", "runs", ["conversation"])
    op.create_index("runs_of_asker", "runs", ["team", "asker"])
    op.create_table(
        "steps",
        _of_run(),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("node", sa.Text, nullable=False),
        sa.Column("milliseconds", sa.Float, nullable=False),
        sa.Column("detail", JSONB, nullable=False),
        sa.Column("calls", JSONB, nullable=False),
        sa.Column("faults", JSONB, nullable=False),
    )
    op.create_table(
        "feedback",
        _of_run(),
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("helpful", sa.Boolean, nullable=False),
        _text("note"),
        _moment("given_at"),
    )
    op.create_index("feedback_of_person", "feedback", ["team", "person"])
    op.create_table(
        "reviews",
        _of_run(),
        sa.Column("reviewer", sa.Text, primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("good", sa.Boolean, nullable=False),
        sa.Column("verdict", sa.Text),
        _text("answer"),
        sa.Column("passages", JSONB, nullable=False, server_default=sa.text("'{}'")),
        _text("note"),
        _moment("reviewed_at"),
    )


def downgrade() -> None:
    for table in ("reviews", "feedback", "steps", "runs"):
        op.drop_table(table)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _of_run() -> sa.Column[str]:
    return sa.Column("run", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _moment(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now())

"""The review pages: reviews that are all kept, gaps, sign-in, the audit log, and what makes 100,000 traces quick."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision: str = "0004_admin"
down_revision: str | None = "0003_inbox"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    _runs()
    _reviews()
    _gaps()
    _admins()


def _runs() -> None:
    op.add_column("runs", _text("model"))
    op.add_column("runs", sa.Column("spaces", ARRAY(sa.Text), nullable=False, server_default="{}"))
    op.add_column("runs", _text("rerun_of"))
    op.add_column("runs", sa.Column("review", sa.Text))
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    for column in ("question", "answer"):
        op.create_index(
            f"runs_{column}_text", "runs", [column], postgresql_using="gin", postgresql_ops={column: "gin_trgm_ops"}
        )
    # Lists are filtered and figures are counted in this index alone: the rows with their texts are many times larger.
    op.drop_index("runs_newest", "runs")
    op.create_index(
        "runs_listed",
        "runs",
        ["team", sa.text("started_at DESC"), sa.text("id DESC")],
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
    )
    op.create_index("feedback_unhelpful", "feedback", ["team", "run"], postgresql_where=sa.text("NOT helpful"))


def _reviews() -> None:
    """What was said by `good` becomes a rating; a reviewer's later judgement no longer takes the place of an earlier."""
    op.execute("ALTER TABLE reviews DROP CONSTRAINT reviews_pkey")
    op.add_column("reviews", sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True))
    op.create_primary_key("reviews_pkey", "reviews", ["id"])
    op.add_column("reviews", sa.Column("rating", sa.Text))
    op.execute("UPDATE reviews SET rating = CASE WHEN good THEN 'good' ELSE 'wrong' END")
    op.drop_column("reviews", "good")
    op.create_index("reviews_of_run", "reviews", ["run"])
    op.execute(
        "UPDATE runs SET review = (SELECT rating FROM reviews WHERE run = runs.id ORDER BY reviewed_at DESC LIMIT 1)"
        " WHERE id IN (SELECT run FROM reviews)"
    )


def _gaps() -> None:
    op.create_table(
        "gaps",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False, server_default="open"),
        _text("changed_by"),
        _moment("changed_at"),
    )
    op.create_index("gaps_of_team", "gaps", ["team"])
    op.create_table(
        "gap_runs",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("gap", sa.BigInteger, sa.ForeignKey("gaps.id", ondelete="CASCADE"), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("unanswered", sa.Boolean, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("embedding", HALFVEC, nullable=False),
    )
    op.create_index("gap_runs_of_gap", "gap_runs", ["gap"], postgresql_include=["run", "asked_at", "unanswered"])


def _admins() -> None:
    op.create_table(
        "admin_key",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False, server_default="1"),
        sa.Column("key", sa.Text, nullable=False),
        sa.CheckConstraint("id = 1", name="admin_key_only_one_check"),
    )
    # Two random UUIDs hold 244 bits of chance from the server's strong source.
    op.execute("INSERT INTO admin_key (key) VALUES (gen_random_uuid()::text || gen_random_uuid()::text)")
    op.create_table(
        "admin_links",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("vouched", sa.Boolean, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "admin_sessions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("vouched", sa.Boolean, nullable=False),
        sa.Column("form_token", sa.Text, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        _text("subject"),
        sa.Column("detail", JSONB, nullable=False, server_default=sa.text("'{}'")),
        _moment("at"),
    )
    op.create_index("audit_newest", "audit", ["team", sa.text("id DESC")])


def downgrade() -> None:
    raise NotImplementedError("Judgements would be lost on the way back: restore a backup instead.")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _moment(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now())

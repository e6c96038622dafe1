"""Settings of channels, and every change of them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision: str = "0006_channels"
down_revision: str | None = "0005_slack_sign_in"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "channel_settings",
        sa.Column("team", sa.Text, primary_key=True),
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("manner", sa.Text, nullable=False),
        sa.Column("web", sa.Text, nullable=False),
        sa.Column("private_first", sa.Boolean, nullable=False),
        sa.Column("workspace", sa.Boolean, nullable=False),
        sa.Column("ingest", sa.Text, nullable=False),
        _ids("ingesters"),
        sa.Column("bots", sa.Boolean, nullable=False),
        sa.Column("bot_turns", sa.Integer, nullable=False),
        _ids("callable_people"),
        _ids("callable_groups"),
        sa.Column("changers", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("changed_by", sa.Text, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    )
    op.create_table(
        "channel_changes",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("before", JSONB, nullable=False),
        sa.Column("after", JSONB, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    )
    op.create_index("channel_changes_newest", "channel_changes", ["team", "channel", sa.text("id DESC")])


def downgrade() -> None:
    op.drop_table("channel_changes")
    op.drop_table("channel_settings")


def _ids(name: str) -> sa.Column[object]:
    return sa.Column(name, ARRAY(sa.Text), nullable=False, server_default="{}")

"""The inbox: each thing that Slack sends, and how far the work on it came."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "0003_inbox"
down_revision: str | None = "0002_traces"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "inbox",
        sa.Column("team", sa.Text, primary_key=True),
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("ts", sa.Text, primary_key=True),
        sa.Column("event_id", sa.Text, unique=True),
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False, server_default=""),
        sa.Column("by_bot", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("payload", JSONB),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("mark", sa.Uuid, nullable=False, server_default=sa.func.gen_random_uuid()),
        sa.Column("replies", sa.ARRAY(sa.Text), nullable=False, server_default="{}"),
        sa.Column("outcome", JSONB),
        sa.Column("stopped", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("done_at", sa.DateTime(timezone=True)),
    )
    op.create_index("inbox_waiting", "inbox", ["conversation", "ts"], postgresql_where=sa.text("done_at IS NULL"))
    op.create_index("inbox_of_conversation", "inbox", ["conversation"])
    op.create_index("inbox_of_person", "inbox", ["team", "person", "received_at"])


def downgrade() -> None:
    op.drop_table("inbox")

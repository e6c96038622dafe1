"""Experts' answers: who wrote which document, and when to look at it again."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007_experts"
down_revision: str | None = "0006_channels"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "expert_answers",
        sa.Column("document", sa.BigInteger, sa.ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("run", sa.Text, nullable=False, server_default=""),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False, server_default=""),
        sa.Column("author_name", sa.Text, nullable=False, server_default=""),
        sa.Column("link", sa.Text),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("review_at", sa.DateTime(timezone=True)),
        sa.Column("reminded_at", sa.DateTime(timezone=True)),
    )
    op.create_index("expert_answers_of_author", "expert_answers", ["team", "author"])
    op.create_index("expert_answers_of_run", "expert_answers", ["team", "run"])


def downgrade() -> None:
    raise NotImplementedError("Who answered would be lost on the way back: restore a backup instead.")

"""Words against passages that did not help, for questions that mean the same."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC

revision: str = "0012_demotions"
down_revision: str | None = "0011_wishes"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "demotions",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("space", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("made_by", sa.Text, nullable=False),
        sa.Column("firm", sa.Boolean, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("embedding", HALFVEC, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name="demotions_pkey"),
        sa.UniqueConstraint("space", "digest", "run", "made_by", name="demotions_space_digest_run_made_by_key"),
    )


def downgrade() -> None:
    op.drop_table("demotions")

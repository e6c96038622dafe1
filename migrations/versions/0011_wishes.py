"""Askers who want to hear of an answer as soon as there is one."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011_wishes"
down_revision: str | None = "0010_limits"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "wishes",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("wished_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("mark", sa.Uuid, nullable=False, server_default=sa.func.gen_random_uuid()),
        sa.Column("tried_at", sa.DateTime(timezone=True)),
        sa.Column("told_at", sa.DateTime(timezone=True)),
    )
    op.create_index("wishes_of_person", "wishes", ["team", "person"])


def downgrade() -> None:
    op.drop_table("wishes")

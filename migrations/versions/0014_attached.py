"""Which documents are there only as long as their conversation, and how many passages of one were not read."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0014_attached"
down_revision: str | None = "0013_budget"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("documents", sa.Column("kept", sa.Boolean, nullable=False, server_default=sa.true()))
    op.add_column("documents", sa.Column("left_out", sa.Integer, nullable=False, server_default=sa.text("0")))


def downgrade() -> None:
    op.execute("DELETE FROM documents WHERE NOT kept")
    op.drop_column("documents", "left_out")
    op.drop_column("documents", "kept")

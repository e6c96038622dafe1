"""Questions that came when no more were allowed: they are not counted against the next ones."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010_limits"
down_revision: str | None = "0009_heard"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("inbox", sa.Column("limited", sa.Boolean, nullable=False, server_default=sa.text("false")))


def downgrade() -> None:
    op.drop_column("inbox", "limited")

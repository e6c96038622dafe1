"""Whose words before a question it may lean on: who wants to be forgotten is found there, too."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision: str = "0009_heard"
down_revision: str | None = "0008_installations"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("heard", ARRAY(sa.Text), nullable=False, server_default="{}"))


def downgrade() -> None:
    op.drop_column("runs", "heard")

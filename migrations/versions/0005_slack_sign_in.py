"""Signing in to the review pages at Slack: what was begun, until it is done or too old."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005_slack_sign_in"
down_revision: str | None = "0004_admin"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "admin_sign_ins",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("admin_sign_ins")

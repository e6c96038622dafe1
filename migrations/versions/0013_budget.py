"""Which day's warning about the budget was given to which team."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013_budget"
down_revision: str | None = "0012_demotions"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "budget_warnings",
        sa.Column("team", sa.Text, primary_key=True),
        sa.Column("day", sa.Date, primary_key=True),
    )


def downgrade() -> None:
    op.drop_table("budget_warnings")

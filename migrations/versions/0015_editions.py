"""Which documents are editions of one another."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from crag_graph.knowledge.editions import edition_of

revision: str = "0015_editions"
down_revision: str | None = "0014_attached"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

DOCUMENTS = sa.table("documents", sa.column("id"), sa.column("title"), sa.column("family"), sa.column("edition"))


def upgrade() -> None:
    for name in ("family", "edition"):
        op.add_column("documents", sa.Column(name, sa.Text, nullable=False, server_default=sa.text("''")))
    op.create_index(
        "documents_family_edition_idx", "documents", ["family", "edition"], postgresql_where=sa.text("family <> ''")
    )
    if not op.get_context().as_sql:
        _tell_editions()


def downgrade() -> None:
    op.drop_index("documents_family_edition_idx", "documents")
    for name in ("edition", "family"):
        op.drop_column("documents", name)


def _tell_editions() -> None:
    """Of what is stored already: its titles say it."""
    connection = op.get_bind()
    for number, title in connection.execute(sa.select(DOCUMENTS.c.id, DOCUMENTS.c.title)).all():
        told = edition_of(title)
        if told.family:
            changed = DOCUMENTS.update().where(DOCUMENTS.c.id == number)
            connection.execute(changed.values(family=told.family, edition=told.order))

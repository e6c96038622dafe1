"""Documents, passages and the embedding model of the index."""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR

revision = "0001_library"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("space", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("link", sa.Text),
        sa.Column("loader", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("superseded", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("added_by", sa.Text, nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("passages", sa.Integer, nullable=False, server_default="0"),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False, server_default=""),
        sa.CheckConstraint("state IN ('ready', 'failed')", name="documents_state_check"),
        sa.UniqueConstraint("space", "source", name="documents_space_source_key"),
    )
    op.create_table(
        "passages",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("document_id", sa.BigInteger, nullable=False),
        sa.Column("space", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("headings", ARRAY(sa.Text), nullable=False),
        sa.Column("page", sa.Integer),
        sa.Column("start_at", sa.Integer, nullable=False),
        sa.Column("end_at", sa.Integer, nullable=False),
        sa.Column("words", TSVECTOR, nullable=False),
        sa.Column("embedding", HALFVEC),
        sa.Column("features", sa.LargeBinary),
        sa.Column("features_version", sa.Text),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name="passages_document_id_fkey", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("document_id", "ordinal", name="passages_document_id_ordinal_key"),
    )
    # Features are quantised numbers: they do not compress, and trying would cost time at every ingest. What searches
    # compute with stays in the row, and the text, which is only read for the few that are found, goes out of it.
    op.execute("ALTER TABLE passages ALTER COLUMN features SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE passages ALTER COLUMN embedding SET STORAGE MAIN")
    op.execute("ALTER TABLE passages ALTER COLUMN words SET STORAGE MAIN")
    op.create_index("passages_space_idx", "passages", ["space"])
    op.create_index(
        "passages_words_idx", "passages", ["words"], postgresql_using="gin", postgresql_with={"fastupdate": "off"}
    )
    op.create_table(
        "embedding_model",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False, server_default="1"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("dimensions", sa.Integer, nullable=False),
        sa.CheckConstraint("id = 1", name="embedding_model_only_one_check"),
    )


def downgrade() -> None:
    raise NotImplementedError("There is no way back behind the first migration: restore a backup instead.")

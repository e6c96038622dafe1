"""The library's tables: documents, their passages, and which embedding model the index was made with."""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    func,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

# `family` and `edition` are told by the title (editions.py): the later ones of a family sort behind the earlier ones.
documents = Table(
    "documents",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("space", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("link", Text),
    Column("loader", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("superseded", Boolean, nullable=False, server_default=false()),
    Column("family", Text, nullable=False, server_default=text("''")),
    Column("edition", Text, nullable=False, server_default=text("''")),
    Column("added_by", Text, nullable=False),
    Column("added_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("passages", Integer, nullable=False, server_default=text("0")),
    Column("state", Text, nullable=False),
    Column("problem", Text, nullable=False, server_default=text("''")),
    Column("kept", Boolean, nullable=False, server_default=true()),
    Column("left_out", Integer, nullable=False, server_default=text("0")),
    CheckConstraint("state IN ('ready', 'failed')", name="state"),
    UniqueConstraint("space", "source"),
    Index(None, "family", "edition", postgresql_where=text("family <> ''")),
)

# `embedding` has no dimension of its own: the model decides it, and index.py makes the vector index with it. It is
# NULL while a passage waits for another model. `words` is made by words.py, which says why. `space` repeats the
# document's: the search filters by it before any join. The index on `words` has no list of pending entries, because
# every search would have to read that list through.
passages = Table(
    "passages",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("document_id", BigInteger, ForeignKey(documents.c.id, ondelete="CASCADE"), nullable=False),
    Column("space", Text, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("headings", ARRAY(Text), nullable=False),
    Column("page", Integer),
    Column("start_at", Integer, nullable=False),
    Column("end_at", Integer, nullable=False),
    Column("words", TSVECTOR, nullable=False),
    Column("embedding", HALFVEC),
    Column("features", LargeBinary),
    Column("features_version", Text),
    UniqueConstraint("document_id", "ordinal"),
    Index(None, "space"),
    Index(None, "words", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
)

# A word against a passage, for questions that mean the same: one of a reviewer counts when a second one says so, too;
# a `firm` one counts alone. It holds for the text, whose digest is kept, so that reading a document again changes
# nothing. `embedding` is of the question and the named model. The index is that of the search's join.
demotions = Table(
    "demotions",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("space", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("firm", Boolean, nullable=False),
    Column("question", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("embedding", HALFVEC, nullable=False),
    Column("made_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    UniqueConstraint("space", "digest", "run", "made_by"),
)

embedding_model = Table(
    "embedding_model",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, server_default=text("1")),
    Column("name", Text, nullable=False),
    Column("dimensions", Integer, nullable=False),
    CheckConstraint("id = 1", name="only_one"),
)

"""The table of experts' answers: who answered what, which document of the library says it, when to look at it again."""

from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Index, MetaData, Table, Text, func

from crag_graph.knowledge.tables import documents

metadata = MetaData()

# A row goes with its document, however that is removed. `run`: the trace that was corrected, if any. `review_at`: NULL
# where nobody is asked again. `reminded_at`: the author was asked whether it is still right, and has not said so yet.
expert_answers = Table(
    "expert_answers",
    metadata,
    Column("document", BigInteger, ForeignKey(documents.c.id, ondelete="CASCADE"), primary_key=True),
    Column("team", Text, nullable=False),
    Column("run", Text, nullable=False, server_default=""),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("author", Text, nullable=False, server_default=""),
    Column("author_name", Text, nullable=False, server_default=""),
    Column("link", Text),
    Column("answered_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("review_at", DateTime(timezone=True)),
    Column("reminded_at", DateTime(timezone=True)),
    Index("expert_answers_of_author", "team", "author"),
    Index("expert_answers_of_run", "team", "run"),
)

"""The table of what Slack sends."""

from sqlalchemy import ARRAY, Boolean, Column, DateTime, Index, Integer, MetaData, Table, Text, Uuid, func, text
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData()

inbox = Table(
    "inbox",
    metadata,
    Column("team", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("ts", Text, primary_key=True),
    Column("event_id", Text, unique=True),
    Column("conversation", Text, nullable=False),
    Column("person", Text, nullable=False, server_default=""),
    Column("by_bot", Boolean, nullable=False, server_default=text("false")),
    Column("payload", JSONB(none_as_null=True)),
    Column("received_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("mark", Uuid, nullable=False, server_default=func.gen_random_uuid()),
    Column("replies", ARRAY(Text), nullable=False, server_default="{}"),
    Column("outcome", JSONB(none_as_null=True)),
    Column("stopped", Boolean, nullable=False, server_default=text("false")),
    Column("limited", Boolean, nullable=False, server_default=text("false")),
    Column("done_at", DateTime(timezone=True)),
    Index("inbox_waiting", "conversation", "ts", postgresql_where=text("done_at IS NULL")),
    Index("inbox_of_conversation", "conversation"),
    Index("inbox_of_person", "team", "person", "received_at"),
)
"""`payload` and `outcome` hold private text and are emptied when the item is done."""

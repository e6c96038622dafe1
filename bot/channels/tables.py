"""Tables of the channels' settings: what is in force, and every change with its before and after."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    desc,
    func,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()


def _ids(name: str) -> Column[object]:
    return Column(name, ARRAY(Text), nullable=False, server_default="{}")


channel_settings = Table(
    "channel_settings",
    metadata,
    Column("team", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("manner", Text, nullable=False),
    Column("web", Text, nullable=False),
    Column("private_first", Boolean, nullable=False),
    Column("workspace", Boolean, nullable=False),
    Column("ingest", Text, nullable=False),
    _ids("ingesters"),
    Column("bots", Boolean, nullable=False),
    Column("bot_turns", Integer, nullable=False),
    _ids("callable_people"),
    _ids("callable_groups"),
    Column("changers", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

channel_changes = Table(
    "channel_changes",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("team", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("person", Text, nullable=False),
    Column("before", JSONB, nullable=False),
    Column("after", JSONB, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("channel_changes_newest", "team", "channel", desc("id")),
)

"""Tables of the review pages: who may sign in, who is signed in, and what was done there."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
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
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData()


def _moment(name: str) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=False)


# What signs the links: made once by the migration, so that every process has the same.
key = Table(
    "admin_key",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, server_default="1"),
    Column("key", Text, nullable=False),
    CheckConstraint("id = 1", name="admin_key_only_one_check"),
)

links = Table(
    "admin_links",
    metadata,
    Column("id", Text, primary_key=True),
    Column("team", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("vouched", Boolean, nullable=False),
    _moment("expires_at"),
    Column("used_at", DateTime(timezone=True)),
)

# `id` is the hash of what the cookie holds: who reads this table cannot sign in with it.
sessions = Table(
    "admin_sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("team", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("vouched", Boolean, nullable=False),
    Column("form_token", Text, nullable=False),
    _moment("expires_at"),
)

# Begun at Slack and not back yet; `id` is a hash of what the browser's cookie holds.
sign_ins = Table(
    "admin_sign_ins",
    metadata,
    Column("id", Text, primary_key=True),
    _moment("expires_at"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("team", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False, server_default=""),
    Column("detail", JSONB, nullable=False, server_default=text("'{}'")),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("audit_newest", "team", desc("id")),
)

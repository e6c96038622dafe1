"""The database: found or started, opened, brought up to date."""


class DatabaseError(Exception):
    """The database cannot be used; the message says why and what to do, for people."""

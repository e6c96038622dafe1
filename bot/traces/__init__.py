"""What each run did, stored for review."""


class TraceError(Exception):
    """The traces cannot be read or written: the database is not reachable."""

    def __str__(self) -> str:
        return self.__doc__ or ""

"""Where the library meets Postgres: what the driver raises becomes LibraryError."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import exc

from crag_graph.services import LibraryError


@contextmanager
def library_errors() -> Iterator[None]:
    """Away, full, shutting down or out of connections: LibraryError. A mistake of ours stays what it is."""
    try:
        yield
    except (exc.OperationalError, exc.InterfaceError, exc.InternalError) as error:
        raise LibraryError(_first_line(error.orig)) from error
    except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
        raise LibraryError(_first_line(error)) from error
    except (exc.TimeoutError, OSError) as error:
        raise LibraryError(str(error)) from error


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().partition("\n")[0]

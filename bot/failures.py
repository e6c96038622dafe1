"""What the asker is told where an answer failed."""

import sqlite3
from collections.abc import Mapping

import psycopg

from bot.questions import AnswerFailedError
from bot.traces import TraceError
from crag_graph.phrases import Phrase
from crag_graph.services import (
    LibraryError,
    ModelBusyError,
    ModelRejectedError,
    ModelReplyError,
    OverdueError,
    ServiceError,
    TimeUpError,
    WebBusyError,
    WebRejectedError,
)

NO_MEMORY = Phrase("The memory of the conversation cannot be used.")
FAILURES: Mapping[type[Exception], Phrase] = {
    ModelBusyError: Phrase("The model did not answer: rate limit, server error, timeout or lost connection."),
    ModelRejectedError: Phrase(
        "The model server rejects the request: wrong key, unknown model, or a prompt that is too long."
    ),
    ModelReplyError: Phrase(
        "The model's reply cannot be used: refused, cut off, or not in the form that was asked for."
    ),
    WebBusyError: Phrase("The web search did not answer: timeout, server error or lost connection."),
    WebRejectedError: Phrase("The web search rejects the request: wrong key, plan used up, or a bad query."),
    LibraryError: Phrase("The library is not reachable."),
    OverdueError: Phrase("A service did not answer within the time that its node has."),
    TimeUpError: Phrase("The time for this question is up."),
    ServiceError: Phrase("Something that an answer needs does not work."),
    TraceError: Phrase("The traces cannot be read or written: the database is not reachable."),
    sqlite3.Error: NO_MEMORY,
    psycopg.Error: NO_MEMORY,
    TimeoutError: Phrase("The answer took too long."),
    Exception: Phrase("Something went wrong while answering."),
}
"""What is said of what failed; of an error that stands not here, what is said of what it is a kind of."""


def failure(error: Exception, trace_id: str = "") -> AnswerFailedError:
    """What the asker is told of an error, in the language that is spoken."""
    said = next(FAILURES[kind] for kind in type(error).__mro__ if kind in FAILURES)
    passing = isinstance(error, TraceError | sqlite3.Error | psycopg.Error | TimeoutError)
    transient = error.transient if isinstance(error, ServiceError) else passing
    return AnswerFailedError(said(), trace_id=trace_id, transient=transient)

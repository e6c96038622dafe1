"""Which exit status an error has, and what it says to whoever typed the command."""

from bot.database import DatabaseError
from bot.erasing.eraser import WhoError
from bot.jobs import QueueError
from bot.memory import MemoryAwayError
from bot.questions import AnswerFailedError, QuestionError
from bot.settings import SettingsError
from bot.traces import TraceError
from bot.traces.reading import CursorError
from crag_graph.services import ServiceError

FAILURE, WRONG_USE = 1, 2


class UseError(Exception):
    """The command was not used as it is meant; the message says how it is."""


def explained(error: BaseException) -> tuple[int, str]:
    """The exit status, and one line."""
    match error:
        case SettingsError() | QuestionError() | UseError() | CursorError() | WhoError():
            return WRONG_USE, str(error)
        case AnswerFailedError():
            return FAILURE, f"{error}{_because(error.__cause__)}{_trace(error)}"
        case DatabaseError() | MemoryAwayError() | TraceError() | QueueError() | ServiceError():
            return FAILURE, str(error)
        case OSError():
            return FAILURE, f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
        case _:
            return FAILURE, f"{type(error).__name__}: {error} (with --debug you see where)"


def _because(cause: BaseException | None) -> str:
    """The first line of what was behind it."""
    reason = str(cause).strip().partition("\n")[0] if cause else ""
    return f" ({reason})" if reason else ""


def _trace(error: AnswerFailedError) -> str:
    return f" [trace {error.trace_id}]" if error.trace_id else ""

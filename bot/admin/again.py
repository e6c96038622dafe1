"""Asks a question once more, with today's library and settings, and with the conversation as it was then."""

from bot.admin.desk import Desk
from bot.again import question_again
from bot.answering import AnswerFailedError, QuestionError
from bot.traces.reading import Row
from crag_graph.domain import Progress


class RerunError(Exception):
    """The question cannot be asked again; the message says why."""


async def run_again(desk: Desk, run: Row) -> str:
    """The trace of the new run; nobody in Slack sees it, and no conversation remembers it. Raises RerunError.

    It may see what the first run might see, and is erased with the conversation it belongs to.
    """
    if run["erased_at"]:
        raise RerunError("What was asked has been erased.")
    try:
        return (await desk.answering.answer(await question_again(desk.engine, run), _quietly)).trace_id
    except AnswerFailedError as failed:
        if not failed.trace_id:
            raise RerunError(str(failed)) from failed
        return failed.trace_id
    except QuestionError as error:
        raise RerunError(str(error)) from error


async def _quietly(_progress: Progress) -> None:
    """The page waits for the end."""

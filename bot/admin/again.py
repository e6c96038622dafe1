"""Asks a question once more, with today's library and settings, and with the conversation as it was then."""

from bot.admin.desk import Desk
from bot.answering import AnswerFailedError, Question, QuestionError
from bot.traces.history import turn_of, turns_before
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
    question = Question(
        text=run["question"],
        conversation=run["conversation"],
        spaces=tuple(run["spaces"]),
        team=run["team"],
        channel=run["channel"],
        asker=run["asker"],
        permalink=run["permalink"],
        history=tuple(turn_of(turn) for turn in await turns_before(desk.engine, run)),
        rerun_of=run["id"],
    )
    try:
        return (await desk.answering.answer(question, _quietly)).trace_id
    except AnswerFailedError as failed:
        if not failed.trace_id:
            raise RerunError(str(failed)) from failed
        return failed.trace_id
    except QuestionError as error:
        raise RerunError(str(error)) from error


async def _quietly(_progress: Progress) -> None:
    """The page waits for the end."""

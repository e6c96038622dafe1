"""Writes without a model: rules for the standalone question and the web query, answers quoted from the sources."""

from collections.abc import Callable, Sequence
from datetime import date

from crag_graph.domain import Conversation
from crag_graph.models.follow_ups import standalone
from crag_graph.models.keywords import web_query
from crag_graph.models.queries import cut
from crag_graph.models.quotation import quotation
from crag_graph.sentences import sentences
from crag_graph.services import Brief, Draft, Standalone, WebQuery

_SUMMARY = 1_600
"""Characters of a running summary; what is older goes first."""
_LINE = 240


class ExtractiveWriter:
    """Implements services.Writer without any model: free, at once, and never a word that no source has."""

    async def contextualize(
        self,
        question: str,
        conversation: Conversation,
        *,
        overflow: Sequence[str],
        today: date,  # noqa: ARG002 - dates are for the search
    ) -> Standalone:
        summary = summarized(conversation.summary, overflow) if overflow else None
        return Standalone(question=standalone(question, conversation), summary=summary)

    async def rewrite(
        self,
        standalone: str,
        conversation: Conversation,  # noqa: ARG002 - it is private
        *,
        today: date,
    ) -> WebQuery:
        return WebQuery(query=web_query(standalone, today))

    async def generate(self, brief: Brief, emit: Callable[[str], None]) -> Draft:
        """Quotes what answers the question; where nothing that was judged comes near to it, it says so in the draft."""
        found, text = quotation(brief), ""
        for paragraph in found.paragraphs:
            piece = ("\n\n" if text else "") + paragraph
            text += piece
            emit(piece)
        return Draft(text=text, quoted=True, missing=found.missing, unanswered=bool(brief.judged) and not text)


def summarized(summary: str, overflow: Sequence[str]) -> str:
    """The summary with the turns that leave the memory: each question, and how its answer began."""
    lines = [*summary.splitlines(), *(_shortened(turn) for turn in overflow)]
    while len(lines) > 1 and len("\n".join(lines)) > _SUMMARY:
        lines.pop(0)
    return cut("\n".join(lines), _SUMMARY)


def _shortened(turn: str) -> str:
    """The question and the first sentence of the answer."""
    question, _, answer = turn.partition("\n")
    spans = sentences(answer)
    return cut(f"{question} {answer[: spans[0][1]] if spans else ''}".strip(), _LINE)

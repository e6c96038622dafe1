"""An answer and its making, for readers of JSON and for people at a terminal."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from bot.questions import Answered
from crag_graph.domain import Answer, Citation, Kind, Verdict

COLOURS = {Verdict.CORRECT: "green", Verdict.AMBIGUOUS: "yellow", Verdict.INCORRECT: "red"}
SUPERSEDED = "superseded"
NEWER = "has a newer version: {title}"
LONGEST_QUOTE = 240

STAGES = {
    "contextualize": "Reading the question",
    "retrieve": "Searching the library",
    "evaluate": "Judging what was found",
    "rewrite": "Making a web query",
    "search_web": "Searching the web",
    "refine": "Keeping what helps",
    "generate": "Writing the answer",
    "abstain": "Nothing answers it",
}
"""What each node does, in the words of its progress."""


def as_json(answered: Answered) -> dict[str, Any]:
    """The one object that `crag ask --json` prints."""
    answer = answered.answer
    return {
        "question": answered.question,
        "standalone_question": answered.standalone,
        "verdict": answer.verdict.value,
        "reason": answer.reason,
        "answer": said(answer),
        "abstained": answer.abstained,
        "citations": [_citation(citation) for citation in answer.citations],
        "web_query": answered.web_query,
        "passages": [
            {
                "source": judged.passage.source,
                "title": judged.passage.title,
                "location": judged.passage.location,
                "score": round(judged.score.value, 4),
                "reason": judged.score.reason,
                "kept": judged.kept,
            }
            for judged in answered.passages
        ],
        "strips": {"total": len(answered.strips), "kept": sum(judged.kept for judged in answered.strips)},
        "model_calls": len(answered.calls),
        "timings_ms": {node: round(milliseconds, 1) for node, milliseconds in answered.timings.items()},
        "trace_id": answered.trace_id,
    }


def said(answer: Answer) -> str:
    """All that the asker is told, the notice included."""
    return "\n\n".join(filter(None, (answer.text, answer.notice)))


def line(value: object) -> str:
    """One line of JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)


def print_answer(console: Console, answered: Answered, *, streamed: bool = False) -> None:
    """The answer (unless it was streamed already), its notice, its citations and one line on how it was made."""
    if not streamed:
        console.print(Text(answered.answer.text))
    if answered.answer.notice:
        console.print(Text(answered.answer.notice), style="italic yellow")
    if answered.answer.citations:
        console.print()
    for citation in answered.answer.citations:
        print_citation(console, citation)
    console.print()
    console.print(_summary(answered))


def print_citation(console: Console, citation: Citation) -> None:
    """Number, title and place, the quote below."""
    web = "web" if citation.kind is Kind.WEB else ""
    place = " · ".join(filter(None, (citation.location, citation.link or near(citation.source), web)))
    title = f"[bold cyan]\\[{citation.mark}][/] [bold]{escape(citation.title)}[/]"
    console.print(f"{title} [dim]· {escape(place)}[/]")
    outdated = [SUPERSEDED] if citation.superseded else []
    outdated += [NEWER.format(title=" ".join(citation.newer.split()))] if citation.newer else []
    if outdated:
        console.print(Padding(Text(", ".join(outdated), style="yellow"), (0, 0, 0, 4)))
    quote = " ".join(citation.quote.split())
    shown = quote if len(quote) <= LONGEST_QUOTE else f"{quote[:LONGEST_QUOTE].rsplit(' ', 1)[0]} …"
    console.print(Padding(Text(f"“{shown}”", style="dim"), (0, 0, 0, 4)))


def near(source: str) -> str:
    """A path below the present folder is told from there."""
    path = Path(source)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else source


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "mark": citation.mark,
        "kind": citation.kind.value,
        "title": citation.title,
        "source": citation.source,
        "location": citation.location,
        "quote": citation.quote,
    }


def _summary(answered: Answered) -> Text:
    verdict = answered.answer.verdict
    calls, kept = len(answered.calls), sum(judged.kept for judged in answered.strips)
    parts = [
        answered.answer.reason,
        f"{kept} of {len(answered.strips)} strips kept" if answered.strips else "",
        f"{calls} model call{'s' if calls != 1 else ''}" if calls else "",
        f"{sum(answered.timings.values()) / 1000:.2f} s",
        f"trace {answered.trace_id}",
    ]
    return Text.assemble((verdict.value, COLOURS[verdict]), (" · " + " · ".join(filter(None, parts)), "dim"))

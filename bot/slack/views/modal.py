"""The modal behind "How I got here": what was found, how it was judged, what was kept, what was asked of the web; pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bot.slack import words
from bot.slack.views.blocks import Block, link, plain_text, shorten, text
from bot.traces.reading import Trace
from crag_graph.phrases import Phrase

MOST_BLOCKS = 95
MOST_PASSAGES = 20
MOST_STRIPS = 20
LONGEST_STRIP = 400
LONGEST_REASON = 200
ASKED_AS = Phrase("Asked as:")
VERDICT = Phrase("Verdict:")
PASSAGES = Phrase("Passages: {number}")
PAGES = Phrase("Pages of the web: {number}")
SEARCHED = Phrase("Searched for:")
PASSAGE_KEPT = Phrase("{score} · kept")
PASSAGE_DROPPED = Phrase("{score} · dropped")
CALLS = Phrase("Model calls: {calls}, tokens: {tokens} · trace {trace}")
TOTAL = Phrase("{milliseconds} ms in all: {spent}")
UNFINISHED = Phrase("not finished: {spent}")
KEPT = Phrase("Excerpts that were kept: {kept} of {judged}")
VERDICTS = {
    "correct": Phrase("Your documents were enough"),
    "ambiguous": Phrase("Your documents were enough for a part only"),
    "incorrect": Phrase("Nothing in your documents was good enough"),
}


def how_view(trace: Trace) -> dict[str, Any]:
    """The view of a trace. Raises nothing for a trace that lacks steps: it shows what there is."""
    blocks = [*_question(trace.run), *_passages(trace), *_strips(trace), *_web(trace), *_numbers(trace)]
    return {
        "type": "modal",
        "title": plain_text(words.HOW()),
        "close": plain_text(words.CLOSE()),
        "blocks": blocks[:MOST_BLOCKS],
    }


def _question(run: Mapping[str, Any]) -> Iterator[Block]:
    asked = run["standalone"] or run["question"]
    lines = [[text(f"{ASKED_AS()} ", bold=True), text(shorten(asked, 1_000))]]
    if run["verdict"]:
        told = f"{VERDICTS[run['verdict']]()}. {run['reason']}".strip()
        lines.append([text(f"{VERDICT()} ", bold=True), text(shorten(told, 1_000))])
    if run["notice"]:
        lines.append([text(shorten(run["notice"], 1_000), italic=True)])
    yield _block(lines)


def _passages(trace: Trace) -> Iterator[Block]:
    found: Sequence[Mapping[str, Any]] = _detail(trace, "passages") or ()
    scores: Sequence[Mapping[str, Any]] = _detail(trace, "scores") or ()
    kept = {passage["id"] for passage in _detail(trace, "good") or ()}
    yield _header(PASSAGES(number=len(found)))
    for passage, score in list(zip(found, scores, strict=False))[:MOST_PASSAGES]:
        place = f" — {shorten(passage['location'])}" if passage.get("location") else ""
        judged = (PASSAGE_KEPT if passage["id"] in kept else PASSAGE_DROPPED)(score=f"{score['value']:.2f}")
        yield _block(
            [
                [link(shorten(passage["title"]), passage.get("link")), text(f"{place} · "), text(judged, bold=True)],
                [text(shorten(score["reason"], LONGEST_REASON), italic=True)],
            ]
        )


def _strips(trace: Trace) -> Iterator[Block]:
    judged: Sequence[Mapping[str, Any]] = _detail(trace, "strips") or ()
    kept = [one for one in judged if one["kept"]]
    if not judged:
        return
    yield _header(KEPT(kept=len(kept), judged=len(judged)))
    for one in kept[:MOST_STRIPS]:
        quoted = text(shorten(one["strip"]["text"], LONGEST_STRIP))
        yield {"type": "rich_text", "elements": [{"type": "rich_text_quote", "elements": [quoted]}]}


def _web(trace: Trace) -> Iterator[Block]:
    if not trace.run["web_query"]:
        return
    pages: Sequence[Mapping[str, Any]] = _detail(trace, "pages") or ()
    yield _header(PAGES(number=len(pages)))
    lines = [[text(f"{SEARCHED()} ", bold=True), text(shorten(trace.run["web_query"], 400))]]
    lines += [[link(shorten(page["title"]), page.get("link"))] for page in pages[:MOST_PASSAGES]]
    yield _block(lines)


def _numbers(trace: Trace) -> Iterator[Block]:
    run = trace.run
    spent = ", ".join(f"{step['node']} {step['milliseconds']:.0f} ms" for step in trace.steps)
    tokens = run["prompt_tokens"] + run["completion_tokens"]
    calls = CALLS(calls=run["calls"], tokens=tokens, trace=run["id"])
    time = run["milliseconds"]
    total = TOTAL(milliseconds=f"{time:.0f}", spent=spent) if time else UNFINISHED(spent=spent)
    yield {"type": "divider"}
    yield {
        "type": "context",
        "elements": [plain_text(shorten(total, 1_900)), plain_text(calls)],
    }


def _detail(trace: Trace, name: str) -> Any:
    """What the steps learnt under this name, the last one counting."""
    return next((step["detail"][name] for step in reversed(trace.steps) if name in step["detail"]), None)


def _header(title: str) -> Block:
    return {"type": "header", "text": plain_text(title)}


def _block(lines: Iterable[list[dict[str, Any]]]) -> Block:
    elements: list[dict[str, Any]] = []
    for line in lines:
        elements += [*([text("\n")] if elements else []), *(one for one in line if one["text"])]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}

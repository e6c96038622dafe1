"""What people read in Slack stands in the catalogues: nothing that reads like words is said past them."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import files, name, parsed

SPEAKING = (
    "bot/slack",
    "bot/experts",
    "bot/answering.py",
    "bot/failures.py",
    "bot/questions.py",
    "crag_graph/nodes/abstain.py",
    "crag_graph/nodes/generate.py",
    "crag_graph/knowledge/errors.py",
    "crag_graph/knowledge/fetch.py",
    "crag_graph/knowledge/sources.py",
    "crag_graph/knowledge/loaders",
)
FOR_OPERATORS = {"bot/slack/start.py", "bot/slack/transports.py"}
"""What they say is read by whoever runs the bot, not in Slack."""
WORDS = re.compile(r"[^\W\d_]{2,}['’]?[,:]? [^\W\d_]+\b|^[A-Z][a-z]{2,}[.…:!?]?$")
"""Two words, or one with a capital letter, as on a button."""
UNSAID = {
    "Phrase",
    "compile",
    "text",
    "TypeVar",
    "cast",
    "RuntimeError",
    "ValueError",
    "info",
    "warning",
    "error",
    "_tags",
}
"""Calls whose texts nobody is told: phrases themselves, patterns, SQL, logs, types, errors of programmers, lists."""
NAMES = {
    *("Accept", "Authorization", "Host", "crag/0.1 (document library)"),  # of HTTP
    *("Title", "List", "Markdown"),  # of formats
    "this conversation",  # typed by people
    "The answer is empty.",  # in traces
}
MARKUP = re.compile(r"<\w+ |^<!doctype|\{\w+:")


def test_nothing_that_reads_like_words_is_said_past_the_catalogues() -> None:
    speaking = [file for file in files("bot", "crag_graph") if name(file).startswith(SPEAKING)]
    assert len(speaking) > 80
    found = {
        f"{name(file)}:{line}: {text}"
        for file in speaking
        if name(file) not in FOR_OPERATORS
        for line, text in texts(parsed(file))
        if WORDS.search(text) and text not in NAMES and not MARKUP.search(text)
    }
    assert found == set()


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the words of every text that somebody may be told."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
        return
    if isinstance(node, ast.Call) and _called(node) in UNSAID:
        return
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    for field, value in ast.iter_fields(node):
        if field not in {"annotation", "returns"}:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from texts(child)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")

"""Lays parsed Markdown out as lines: paragraphs, lists, tables, code."""

from collections.abc import Callable, Iterator

from markdown_it.token import Token


def lay_out(tokens: list[Token], inline: Callable[[list[Token]], str]) -> str:
    return "\n".join(Layout(inline).lines(tokens))


class Layout:
    def __init__(self, inline: Callable[[list[Token]], str]) -> None:
        self._inline = inline
        self._lists: list[int | None] = []
        """The open lists: the next number, or None for a list of points."""
        self._cells: list[str] | None = None
        self._lead = ""

    def lines(self, tokens: list[Token]) -> Iterator[str]:
        for token in tokens:
            if token.type == "inline":
                yield from self._text(self._inline(token.children or []))
            elif token.type in {"fence", "code_block"}:
                yield self._lead + token.content.rstrip("\n")
                self._lead = ""
            elif token.type == "hr":
                yield "───"
            elif token.type == "tr_close":
                yield " │ ".join(self._cells or [])
                self._cells = None
            else:
                self._step(token)

    def _text(self, shown: str) -> Iterator[str]:
        if self._cells is not None:
            self._cells.append(shown)
            return
        yield self._lead + shown
        self._lead = " " * len(self._lead)

    def _step(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                self._lists.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self._lead = ""
            case "list_item_open":
                self._lead = "  " * (len(self._lists) - 1) + self._mark()
            case "tr_open":
                self._cells = []

    def _mark(self) -> str:
        number = self._lists[-1]
        if number is None:
            return "• "
        self._lists[-1] = number + 1
        return f"{number}. "

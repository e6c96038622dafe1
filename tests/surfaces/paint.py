"""Messages and views as light text: what stands there, what can be pressed, and what a screen reader says of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.slack_workspace.reading import read_markdown, read_mrkdwn
from tests.slack_workspace.screen import rich
from tests.slack_workspace.world import Json, Post, World


@dataclass(frozen=True, kw_only=True)
class Brush:
    """Paints blocks for somebody in this Slack, who sees names where an id is written."""

    world: World

    def fallback(self, post: Post) -> str:
        """What notifications and screen readers say."""
        read = read_markdown if self.is_streamed(post) else read_mrkdwn
        return read(post.text, self.world).text

    @staticmethod
    def is_streamed(post: Post) -> bool:
        return post.stream is not None and post.edited is None

    def post(self, post: Post) -> Iterator[str]:
        if post.stream and self.is_streamed(post):
            for task in post.stream.tasks.values():
                yield f"▸ {task['title']} ({task['status'].replace('_', ' ')})"
            yield from self.fallback(post).splitlines()
        yield from self.blocks(post.blocks)

    def blocks(self, blocks: list[Json]) -> Iterator[str]:
        for block in blocks:
            yield from self._block(block)

    def _block(self, block: Json) -> Iterator[str]:
        """Raises AttributeError for a type of block that the bot did not use when this was written."""
        lines: Iterator[str] = getattr(self, f"_paint_{block['type']}")(block)
        return lines

    def _paint_markdown(self, block: Json) -> Iterator[str]:
        yield from read_markdown(block["text"], self.world).text.splitlines()

    def _paint_header(self, block: Json) -> Iterator[str]:
        yield f"== {self._text(block['text'])} =="

    def _paint_divider(self, _: Json) -> Iterator[str]:
        yield "────"

    def _paint_image(self, block: Json) -> Iterator[str]:
        yield f"[image: {block['alt_text']}]"

    def _paint_context(self, block: Json) -> Iterator[str]:
        yield " · ".join(self._text(one) for one in block["elements"])

    def _paint_actions(self, block: Json) -> Iterator[str]:
        yield from self._row(block["elements"])

    _paint_context_actions = _paint_actions

    def _paint_section(self, block: Json) -> Iterator[str]:
        for text in [block.get("text"), *block.get("fields", [])]:
            yield from (self._text(text).splitlines() if text else ())
        yield from self._row([block["accessory"]] if "accessory" in block else [])

    def _paint_rich_text(self, block: Json) -> Iterator[str]:
        yield from rich(block).splitlines()

    def _paint_input(self, block: Json) -> Iterator[str]:
        optional = " (optional)" if block.get("optional") else ""
        yield f"{self._text(block['label'])}{optional}:"
        yield from (f"  {line}" for line in self._element(block["element"]))
        if hint := block.get("hint"):
            yield f"  hint: {self._text(hint)}"

    def _row(self, elements: list[Json]) -> Iterator[str]:
        """Buttons stand side by side, what is asked before one is done below them."""
        shown = [line for element in elements for line in self._element(element)]
        if shown:
            yield " ".join(shown) if all(element["type"] in BUTTONS for element in elements) else "\n".join(shown)
        for element in elements:
            if confirm := element.get("confirm"):
                yield f"  asks first: {self._text(confirm['title'])} {self._text(confirm['text'])}"
                yield f"  [{self._text(confirm['confirm'])}] [{self._text(confirm['deny'])}]"

    def _element(self, element: Json) -> Iterator[str]:
        match element["type"]:
            case "button" | "icon_button":
                yield self._button(element, self._text(element["text"]))
            case "feedback_buttons":
                for side in ("positive_button", "negative_button"):
                    yield self._button(element[side], self._text(element[side]["text"]))
            case "radio_buttons" | "checkboxes":
                yield from self._options(element)
            case kind if kind.endswith("_input"):
                yield from self._entered(element)
            case kind:
                yield from self._menu(element, kind)

    @staticmethod
    def _button(element: Json, label: str) -> str:
        aloud = element.get("accessibility_label")
        return f"[{label}]" + (f" (read aloud: {aloud})" if aloud else "")

    def _options(self, element: Json) -> Iterator[str]:
        chosen = element.get("initial_options") or [element.get("initial_option")]
        on, off = ("(x)", "( )") if element["type"] == "radio_buttons" else ("[x]", "[ ]")
        for option in element["options"]:
            about = f" – {self._text(option['description'])}" if "description" in option else ""
            yield f"{on if option in chosen else off} {self._text(option['text'])}{about}"

    def _entered(self, element: Json) -> Iterator[str]:
        text = element.get("initial_value") or self._placeholder(element)
        yield from (f"│ {line}" for line in text.splitlines() or [""])

    def _menu(self, element: Json, kind: str) -> Iterator[str]:
        """A select: what is chosen at first, and what it offers."""
        chosen = [self._text(option["text"]) for option in element.get("initial_options") or ()]
        chosen += [self._called(one) for one in element.get("initial_users") or ()]
        chosen += [self._called(one) for one in filter(None, [element.get("initial_conversation")])]
        offers = f": {', '.join(self._text(one['text']) for one in element['options'])}" if "options" in element else ""
        yield f"<{kind.replace('_', ' ')}{offers}> {', '.join(chosen) or self._placeholder(element)}".rstrip()

    def _placeholder(self, element: Json) -> str:
        return self._text(element["placeholder"]) if "placeholder" in element else ""

    def _called(self, one: str) -> str:
        if account := self.world.accounts.get(one):
            return f"@{account.name}"
        place = self.world.conversations.get(one)
        return f"#{place.name}" if place else one

    def _text(self, text: Json) -> str:
        if text["type"] == "image":
            return f"[image: {text['alt_text']}]"
        return read_mrkdwn(text["text"], self.world).text if text["type"] == "mrkdwn" else str(text["text"])


BUTTONS = frozenset({"button", "icon_button", "feedback_buttons"})

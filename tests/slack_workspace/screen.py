"""What a reader sees of a message: its blocks as lines, its links, its buttons, and whom it pings."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.slack_workspace.reading import Link, Read, read_markdown, read_mrkdwn
from tests.slack_workspace.world import Json, Post, World

__all__ = ["Link", "Screen"]


@dataclass(frozen=True, kw_only=True)
class Screen:
    text: str
    links: tuple[Link, ...]
    pings: frozenset[str]
    buttons: tuple[str, ...]

    @classmethod
    def of(cls, post: Post, world: World) -> "Screen":
        painter = Painter(world, linked=post.names_linked)
        painter.post(post)
        return painter.done()

    @classmethod
    def of_blocks(cls, blocks: list[Json], world: World) -> "Screen":
        """A view's blocks, as its reader sees them."""
        painter = Painter(world)
        painter.blocks(blocks)
        return painter.done()


class Painter:
    """Collects what is seen, block by block."""

    def __init__(self, world: World, *, linked: bool = False) -> None:
        self._world = world
        self._linked = linked
        self._lines: list[str] = []
        self._links: list[Link] = []
        self._pings: set[str] = set()
        self._buttons: list[str] = []

    def done(self) -> Screen:
        return Screen(
            text="\n".join(line for line in self._lines if line),
            links=tuple(self._links),
            pings=frozenset(self._pings),
            buttons=tuple(self._buttons),
        )

    def post(self, post: Post) -> None:
        if post.stream is not None and post.edited is None:  # chat.update puts other content in its place
            self._plan(post)
            self._show(read_markdown(post.text, self._world))
            self.blocks(post.blocks)
        elif post.blocks:
            # What a ping in the unseen fallback does is not documented: it counts as one.
            self._pings |= read_mrkdwn(post.text, self._world, linked=self._linked).pings
            self.blocks(post.blocks)
        else:
            self._show(read_mrkdwn(post.text, self._world, linked=self._linked))
        for attachment in post.attachments:
            self._attachment(attachment)
        for file in post.files:
            self._lines.append(f"[file: {file.title or file.name}]")

    def blocks(self, blocks: list[Json]) -> None:
        for block in blocks:
            self._block(block)

    def _block(self, block: Json) -> None:
        paint = getattr(self, f"_paint_{block['type']}", None)
        if paint:
            paint(block)

    def _paint_markdown(self, block: Json) -> None:
        self._show(read_markdown(block["text"], self._world))

    def _paint_section(self, block: Json) -> None:
        for text in [block.get("text"), *block.get("fields", [])]:
            self._show(self._text(text))
        self._element(block.get("accessory"))

    def _paint_header(self, block: Json) -> None:
        self._show(self._text(block["text"]))

    def _paint_context(self, block: Json) -> None:
        parts = [self._text(element) for element in block["elements"]]
        self._lines.append(" · ".join(part.text for part in parts))
        self._collect(parts)

    def _paint_actions(self, block: Json) -> None:
        for element in block["elements"]:
            self._element(element)

    _paint_context_actions = _paint_actions

    def _paint_divider(self, block: Json) -> None:
        self._lines.append("───")

    def _paint_image(self, block: Json) -> None:
        self._lines.append(f"[image: {block['alt_text']}]")

    def _paint_input(self, block: Json) -> None:
        self._lines.append(f"{self._text(block['label']).text}:")
        self._element(block["element"])

    def _paint_table(self, block: Json) -> None:
        for row in block["rows"]:
            self._lines.append(" │ ".join(rich(cell) for cell in row))

    def _paint_rich_text(self, block: Json) -> None:
        self._lines.append(rich(block))

    def _paint_plan(self, block: Json) -> None:
        self._lines.append(f"▸ {block['title']}")
        self.blocks([task for task in block.get("tasks", []) if "type" in task])

    _paint_task_card = _paint_plan

    def _element(self, element: Json | None) -> None:
        if element is None:
            return
        for label in labels(element):
            self._buttons.append(label)
            self._lines.append(f"[{label}]")
        if element.get("url"):
            self._links.append(Link(label=labels(element)[0], url=element["url"]))
        for option in element.get("options", []):
            self._lines.append(f"  ( ) {self._text(option['text']).text}")
        if initial := element.get("initial_value"):
            self._lines.append(f"  {initial}")

    def _text(self, text: Json | None) -> Read:
        if not text or text["type"] == "image":
            return Read(text=f"[image: {text['alt_text']}]" if text else "")
        if text["type"] == "plain_text":
            return Read(text=text["text"])
        return read_mrkdwn(text["text"], self._world, linked=self._linked)

    def _show(self, read: Read) -> None:
        self._lines.append(read.text)
        self._collect([read])

    def _collect(self, parts: list[Read]) -> None:
        for part in parts:
            self._links += part.links
            self._pings |= part.pings

    def _plan(self, post: Post) -> None:
        if post.stream and post.stream.plan:
            self._lines.append(f"▸ {post.stream.plan}")
        for task in post.stream.tasks.values() if post.stream else ():
            self._lines.append(f"▸ {task['title']} ({task['status'].replace('_', ' ')})")

    def _attachment(self, attachment: Json) -> None:
        for name in ("pretext", "title", "text", "fallback"):
            if isinstance(attachment.get(name), str):
                self._show(read_mrkdwn(attachment[name], self._world))
        self.blocks(attachment.get("blocks", []))


def labels(element: Json) -> list[str]:
    """What stands on a button, or on the two of a feedback element."""
    if element["type"] in {"button", "workflow_button"}:
        return [element["text"]["text"]]
    if element["type"] == "feedback_buttons":
        return [element[side]["text"]["text"] for side in ("positive_button", "negative_button")]
    if element["type"] == "icon_button":
        return [element["text"]["text"]]
    return []


def rich(node: Any) -> str:
    """The text of a rich_text block or a table cell."""
    return "".join(_rich(node))


def _rich(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _rich(item)
    elif isinstance(node, dict):
        yield str(node.get("text") or node.get("url") or node.get("name") or "")
        yield from _rich(node.get("elements", []))

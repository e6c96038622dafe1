"""The page of all surfaces: a heading each, what is read aloud, and what is seen."""

from collections.abc import Iterator

from tests.surfaces.gallery import Gallery, Kind, Surface

TITLE = """# Every surface

What people see of the bot in Slack and in the browser, brought about by the bot itself in the local Slack of the
tests: `make surfaces` writes this page. Buttons stand as `[label]`, with what a screen reader says of them where that is
more. *Notification* is the `text` of a message: what notifications show and screen readers say. Ids, dates and times
are masked.
"""


def page_of(gallery: Gallery) -> str:
    return "\n".join([TITLE, *(line for title, hung in gallery.sections.items() for line in _section(title, hung))])


def _section(title: str, hung: list[Surface]) -> Iterator[str]:
    yield f"## {title}\n"
    for surface in hung:
        yield from _surface(surface)


def _surface(surface: Surface) -> Iterator[str]:
    yield f"### {surface.name}\n"
    if surface.kind is Kind.MESSAGE:
        seen = " (for one person alone)" if surface.private else ""
        yield f"*Notification{seen}:* {' '.join(surface.text.split())}\n"
        if not surface.lines:
            return
    if surface.kind is Kind.MODAL:
        view = surface.view
        ways = [view[name]["text"] for name in ("submit", "close") if view.get(name)]
        yield f"*Window:* {view['title']['text']} {' '.join(f'[{way}]' for way in ways)}\n"
    yield "```text"
    yield from (line.rstrip() for one in surface.lines for line in one.splitlines())
    yield "```\n"

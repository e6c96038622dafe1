"""What would be wrong with a surface is found."""

from typing import Any

import pytest

from tests.slack_workspace.block_ids import named
from tests.surfaces.gallery import Kind, Surface
from tests.surfaces.wrongs import wrongs


def message(text: str = "All is well.", *blocks: dict[str, Any]) -> Surface:
    shown = {"type": "section", "text": {"type": "plain_text", "text": "All is well."}}
    return Surface(name="it", kind=Kind.MESSAGE, lines=(), text=text, blocks=tuple(named([shown, *blocks])))


def button(label: str, aloud: str = "") -> dict[str, Any]:
    spoken = {"accessibility_label": aloud} if aloud else {}
    pressed = {"type": "button", "text": {"type": "plain_text", "text": label}, **spoken}
    return {"type": "actions", "elements": [pressed]}


def image(alt_text: str) -> dict[str, Any]:
    return {"type": "image", "image_url": "https://x.test/a.png", "alt_text": alt_text}


@pytest.mark.parametrize(
    "good",
    [
        message("Stopped."),
        message("Answered from your documents: It is 16 weeks (paid)."),
        message("It says “16 weeks.”", button("Search the web too")),
        message("All is well.", button("Stop", "Stop working on the answer"), image("A plan of the house")),
    ],
)
def test_what_reads_well_is_left_alone(good: Surface) -> None:
    assert wrongs(good) == []


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (message("Answered from your documents"), "does not end"),
        (message("👍"), "no sentence"),
        (message("https://x.test/a/long/way."), "no sentence"),
        (message("It is *16* weeks."), "markup"),
        (message("Run `/crag-ask`."), "markup"),
        (message("It is _still_ right."), "markup"),
        (message("All is well.", button("👍")), "without words"),
        (message("All is well.", button("Stop")), "does not tell what it does"),
        (message("All is well.", button("Ask this person"), button("Ask this person")), "does not tell what it does"),
        (message("All is well.", button("Stop", "End the work")), "called otherwise"),
        (message("All is well.", button("Stop", "Stop " * 20)), "too much to say"),
        (message("All is well.", image("")), "without words"),
        (message("w" * 4_001 + " all is well."), "4014 characters"),
        (message("All is well.", {"type": "section", "text": {"type": "mrkdwn", "text": "w" * 3_001}}), "refuses"),
    ],
)
def test_what_reads_badly_is_found(bad: Surface, said: str) -> None:
    assert any(said in one for one in wrongs(bad)), wrongs(bad)


def test_a_line_of_emoji_alone_is_found() -> None:
    told = Surface(name="it", kind=Kind.WORDS, lines=(":white_check_mark:", "Done ✅", "✅"))
    assert len(wrongs(told)) == 2

"""Every surface stands on the page as it is today, and can be used by whoever does not see it."""

from pathlib import Path

from tests.surfaces.gallery import Gallery, Kind
from tests.surfaces.page import page_of
from tests.surfaces.wrongs import wrongs

PAGE = Path(__file__).parents[2] / "docs/surfaces.md"
VERDICTS = ("documents", "web")
"""An answer says in words what it is made of."""


async def test_every_surface_can_be_used_unseen_and_stands_on_the_page(gallery: Gallery) -> None:
    """One test, because the walk takes half a minute."""
    seen = list(gallery.everything())
    assert {one.kind for one in seen} == set(Kind)
    assert [wrong for one in seen for wrong in wrongs(one)] == []
    answers = gallery.sections["Answers"]
    told = [one for one in answers if one.kind is Kind.MESSAGE]
    assert [one.name for one in told if not any(word in " ".join(one.lines) for word in VERDICTS)] == []
    assert page_of(gallery) == PAGE.read_text(encoding="utf-8"), "`make surfaces` makes it anew"

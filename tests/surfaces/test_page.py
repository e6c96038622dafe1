"""The page of surfaces shows what people see today."""

from pathlib import Path

from tests.surfaces.gallery import Gallery
from tests.surfaces.page import page_of

PAGE = Path(__file__).parents[2] / "docs/surfaces.md"


async def test_the_page_shows_what_people_see_today(gallery: Gallery) -> None:
    assert page_of(gallery) == PAGE.read_text(encoding="utf-8"), "`make surfaces` makes it anew"

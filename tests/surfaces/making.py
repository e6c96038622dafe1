"""Goes the whole way, scene by scene, in one Slack and one database."""

from pathlib import Path

from tests.slack_workspace import SlackWorkspace
from tests.surfaces import scenes_answers, scenes_files, scenes_places, scenes_presses
from tests.surfaces.gallery import Gallery
from tests.surfaces.walk import Walk

MANIFEST = Path(__file__).parents[2] / "slack_manifest.yml"
SCENES = (*scenes_answers.SCENES, *scenes_presses.SCENES, *scenes_places.SCENES, *scenes_files.SCENES)


async def walked(database_url: str, folder: Path, *, language: str = "en") -> Gallery:
    async with SlackWorkspace(manifest=MANIFEST) as slack:
        walk = Walk(slack=slack, database_url=database_url, folder=folder, language=language)
        for scene in SCENES:
            await scene(walk)
        walk.gallery.keep(slack)
        return walk.gallery

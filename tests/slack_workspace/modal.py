"""A modal or home tab as a person sees it."""

from dataclasses import dataclass

from tests.slack_workspace import forms
from tests.slack_workspace.screen import Screen
from tests.slack_workspace.views import OpenView
from tests.slack_workspace.world import Json, World


@dataclass(frozen=True, kw_only=True)
class Modal:
    """A live view: it shows what the modal is now, also after updates."""

    view: OpenView
    world: World

    @property
    def title(self) -> str:
        return str(self.view.view.get("title", {}).get("text", ""))

    @property
    def screen(self) -> str:
        return self._look().text

    @property
    def buttons(self) -> tuple[str, ...]:
        return self._look().buttons

    @property
    def fields(self) -> list[str]:
        """The labels of what it asks for, in order."""
        return forms.labels(self.view.view)

    @property
    def is_open(self) -> bool:
        return not self.view.closed

    @property
    def blocks(self) -> list[Json]:
        blocks: list[Json] = self.view.view["blocks"]
        return blocks

    def _look(self) -> Screen:
        return Screen.of_blocks(self.blocks, self.world)

    def __repr__(self) -> str:
        return f"<{self.title or 'home'}: {self.screen!r}>"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a person notices right after she pressed something."""

    error: str | None = None
    """Why Slack shows a warning: the app did not acknowledge in time, or answered nonsense."""
    errors: dict[str, str] | None = None
    """After a submission: what is wrong, by the label of the field."""
    shows: Modal | None = None
    """After a submission: the modal that stands there now."""

    @property
    def ok(self) -> bool:
        return not self.error and not self.errors

"""What the asker sees while an answer is made: the stages in plain words, and the text as far as it is safe to show."""

from dataclasses import dataclass, field

from bot.slack.text.markdown import make_safe
from bot.slack.text.mrkdwn import defuse
from bot.slack.views.blocks import shorten
from crag_graph.domain import Progress, Stage, TextDelta
from crag_graph.phrases import Phrase

LONGEST_WORD = 60
"""Characters without a space after which text is shown all the same: not every language has spaces."""

LONGEST_NAME = 60
READ = "read"
"""The stage before the graph's: a file that came with the question, named by the detail."""
THINKING = Phrase("Thinking")
READING = Phrase("Reading {name}")
STAGES = {
    "contextualize": Phrase("Reading the question"),
    "retrieve": Phrase("Searching your documents"),
    "evaluate": Phrase("Checking what I found"),
    "rewrite": Phrase("Your documents were not enough: preparing a web search"),
    "search_web": Phrase("Searching the web"),
    "refine": Phrase("Keeping what helps"),
    "generate": Phrase("Writing the answer"),
    "abstain": Phrase("Looking for what else could help"),
}


@dataclass
class View:
    """What is to be seen now. `restarted` counts how often the text began anew."""

    stages: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Of the files that were read, in order."""
    raw: str = ""
    restarted: int = 0

    def take(self, progress: Progress) -> None:
        if isinstance(progress, Stage) and progress.node == READ:
            self.names.append(progress.detail)
            self.stages.append(f"{READ}-{len(self.names)}")
        elif isinstance(progress, Stage):
            if progress.node in STAGES and progress.node not in self.stages:
                self.stages.append(progress.node)
        elif isinstance(progress, TextDelta):
            self.raw += progress.text
        else:
            self.raw = ""
            self.restarted += 1

    @property
    def line(self) -> str:
        """The stage that is going on."""
        return self.title(self.stages[-1]) if self.stages else THINKING()

    def title(self, stage: str) -> str:
        if stage in STAGES:
            return STAGES[stage]()
        name = self.names[int(stage.removeprefix(f"{READ}-")) - 1]
        return READING(name=defuse(shorten(name, LONGEST_NAME)))

    def safe_text(self, shown: str = "") -> str:
        """The text up to its last finished word, made safe; `shown` where more of it would change what was shown."""
        raw = self.raw.lstrip()
        end = max(raw.rfind(" "), raw.rfind("\n"), len(raw) - LONGEST_WORD, 0)
        text = make_safe(raw[:end].rstrip())
        return text if text.startswith(shown) else shown

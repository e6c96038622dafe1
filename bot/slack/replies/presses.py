"""What a button under an answer asks for, as an item of the inbox, and back."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bot.inbox import Claim, Item
from bot.slack.incoming import Message
from bot.slack.views.offers import Offer

WISHES: Mapping[Offer, bool | None] = {Offer.WEB_TOO: True, Offer.LIBRARY_ALONE: False, Offer.AGAIN: None}
"""What a question that is asked again wants of the web."""


@dataclass(frozen=True, kw_only=True)
class Press:
    """A button that was pressed under the answer of a trace. `message` tells by whom, where, and in which conversation."""

    offer: Offer
    trace: str
    message: Message
    language: str = ""
    """Of the question, where it tells one."""
    response_url: str = ""
    """Where the answer to a private answer's button goes; empty for one that everybody sees."""

    @property
    def item(self) -> Item:
        """Named by its button and its answer: it is known, however often it is pressed."""
        message = self.message
        return Item(
            team=message.team,
            channel=message.channel,
            ts=f"{message.ts}-{self.offer}",
            conversation=message.conversation,
            person=message.user,
            payload={
                "message": asdict(message),
                "press": {"offer": self.offer.value, "trace": self.trace, "language": self.language},
                **({"response_url": self.response_url} if self.response_url else {}),
            },
            event_id=f"{self.offer}:{self.trace}",
        )


def language_of(claim: Claim) -> str:
    """Of the question under whose answer something was pressed; empty where nobody knows."""
    return str(claim.payload.get("press", {}).get("language", ""))


def pressed(claim: Claim) -> tuple[Offer, str] | None:
    """The button and the trace that a claim is about; None for what was not pressed."""
    press: Mapping[str, Any] | None = claim.payload.get("press")
    return (Offer(press["offer"]), press["trace"]) if press else None

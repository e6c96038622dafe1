"""Each thing that Slack sends is worked on once."""

from bot.inbox.items import Claim, ClaimLostError, Concerned, InboxError, Item, Place, Said
from bot.inbox.store import Inbox

__all__ = ["Claim", "ClaimLostError", "Concerned", "Inbox", "InboxError", "Item", "Place", "Said"]

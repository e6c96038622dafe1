"""How long Slack waits and how long what it hands out lives, in seconds."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Slack's own figures; a test shortens the ones it would have to wait for."""

    ack_within: float = 3.0
    retry_after: tuple[float, ...] = (0.0, 60.0, 300.0)
    """Pause before each further delivery of an event that was not acknowledged."""
    trigger_lives: float = 3.0
    response_url_lives: float = 1800.0
    response_url_uses: int = 5
    stream_lives: float = 300.0
    status_lives: float = 120.0
    minute: float = 60.0
    """The window over which the tiers count calls."""
    disconnect_warning: float = 10.0
    """From the warning to the end of a connection."""

    @classmethod
    def quick(cls) -> "Timing":
        """Retries within a second; everything that the app has to keep to stays as it is."""
        return cls(retry_after=(0.0, 0.2, 0.5), disconnect_warning=0.3)

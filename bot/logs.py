"""How the service logs: one line of JSON an event on standard error, without secrets and without what people wrote."""

import logging
import re
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any, TextIO

import structlog

OURS = ("bot", "crag_graph")
HIDDEN = "[hidden]"
SLACK_TOKEN = re.compile(r"\bx(?:ox[a-z]|app)[-.][\w.-]{6,}")
"""Those of teams that install the app themselves stand in no setting."""

Event = MutableMapping[str, Any]


class Redaction:
    """Replaces known secrets, and whatever looks like a token of Slack, wherever they turn up in an event, also in a traceback."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted(filter(None, secrets), key=len, reverse=True)

    def __call__(self, _logger: object, _method: str, event: Event) -> Event:
        for key, value in event.items():
            event[key] = self._hide(value)
        return event

    def _hide(self, value: Any) -> Any:
        if isinstance(value, (bool, int, float)) or value is None:
            return value
        text = str(value)
        shown = text
        for secret in self._secrets:
            shown = shown.replace(secret, HIDDEN)
        shown = SLACK_TOKEN.sub(HIDDEN, shown)
        return value if shown == text else shown


def configure(
    level: str, *, texts: bool = False, secrets: Iterable[str] = (), stream: TextIO | None = None, pretty: bool = False
) -> None:
    """Sets logging up for this process.

    `level` counts for our own code. Libraries stay at warnings unless `texts` allows message texts in the log:
    at lower levels several of them print whole requests.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    renderer = structlog.dev.ConsoleRenderer() if pretty else structlog.processors.JSONRenderer(ensure_ascii=False)
    last: list[structlog.typing.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        Redaction(secrets),
        renderer,
    ]
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=last))
    root = logging.getLogger()
    root.handlers = [handler]
    numeric = logging.getLevelNamesMapping()[level.upper()]
    root.setLevel(numeric if texts else max(numeric, logging.WARNING))
    for name in OURS:
        logging.getLogger(name).setLevel(numeric)

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from bot import logs


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level, configuration = root.handlers[:], root.level, structlog.get_config()
    yield io.StringIO()
    root.handlers[:], root.level = handlers, level
    structlog.configure(**configuration)


def test_an_event_is_one_line_of_json_with_its_bound_trace(stream: io.StringIO) -> None:
    logs.configure("info", stream=stream)
    with structlog.contextvars.bound_contextvars(trace="t1"):
        structlog.get_logger("bot.answering").info("question", milliseconds=3)
    event = json.loads(stream.getvalue())
    assert (event["event"], event["trace"], event["milliseconds"]) == ("question", "t1", 3)


def test_libraries_print_no_requests_even_at_debug_unless_texts_are_allowed(stream: io.StringIO) -> None:
    logs.configure("debug", stream=stream)
    logging.getLogger("openai").debug("Request: %s", {"content": "a private question"})
    assert stream.getvalue() == ""
    logs.configure("debug", texts=True, stream=stream)
    logging.getLogger("openai").debug("Request: %s", {"content": "a private question"})
    assert "a private question" in stream.getvalue()


def test_secrets_are_hidden_in_values_messages_and_tracebacks(stream: io.StringIO) -> None:
    logs.configure("debug", texts=True, secrets=["xoxb-hunter2", ""], stream=stream)
    logger = structlog.get_logger("bot.slack")
    logger.info("sent", headers={"Authorization": "Bearer xoxb-hunter2"})
    logging.getLogger("slack_sdk").debug("token=xoxb-hunter2")
    logger.error("refused", exc_info=ValueError("bad token xoxb-hunter2"))
    assert len(stream.getvalue().splitlines()) == 3
    assert "hunter2" not in stream.getvalue()


def test_a_token_that_no_setting_holds_is_hidden_too(stream: io.StringIO) -> None:
    logs.configure("debug", stream=stream)
    logger = structlog.get_logger("bot.slack")
    for token in ("xoxb-1234567890-abcdef", "xoxe.xoxb-1-Mi0yLTEyMw", "xoxp-1234567-x", "xapp-1-A0123-456-abc"):
        logger.error("refused", exc_info=ValueError(f"bad token {token}."))
    assert "[hidden]" in stream.getvalue()
    for rest in ("123456", "Mi0yL", "A0123"):
        assert rest not in stream.getvalue()

"""What can go wrong with an OpenAI-compatible server, in the few errors that the graph knows."""

from collections.abc import Iterator
from contextlib import contextmanager

import openai

from crag_graph.services import ModelBusyError, ModelRejectedError, ModelReplyError, ServiceError

_DETAIL = 240
"""Characters of the server's message that are kept; some servers echo the whole prompt."""
_REQUEST_TIMEOUT, _CONFLICT, _TOO_EARLY = 408, 409, 425
_TOO_LONG = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "contextwindow",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "input tokens exceed",
    "exceed_context_size",
    "reduce the length",
)
"""How servers word a prompt that does not fit: mostly a plain 400 without a code of its own."""


@contextmanager
def translated() -> Iterator[None]:
    """Turns the errors of openai and langchain-openai into those of crag_graph.services."""
    try:
        yield
    except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as error:
        raise ModelReplyError(_reason_of(error)) from error
    except openai.APIStatusError as error:
        raise _of_status(error) from error
    except openai.APIResponseValidationError as error:
        raise ModelReplyError("The response is not in the form of the protocol.") from error
    except openai.APITimeoutError as error:
        raise ModelBusyError("It took too long.") from error
    except openai.APIConnectionError as error:
        raise ModelBusyError("The connection failed.") from error
    except openai.APIError as error:  # an error event in the middle of a stream
        raise ModelBusyError(_shortened(error.message)) from error
    except TimeoutError as error:  # no piece of a stream for too long
        raise ModelBusyError("The stream stalled.") from error
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        # langchain-openai trips over a 200 whose body is not a completion (a login page, an empty object).
        raise ModelReplyError("The response is not in the form of the protocol.") from error


def too_long(message: str) -> bool:
    """The server's message says that the prompt does not fit the model's window."""
    lowered = message.lower()
    return any(phrase in lowered for phrase in _TOO_LONG)


def _reason_of(error: openai.LengthFinishReasonError | openai.ContentFilterFinishReasonError) -> str:
    return "It was cut off." if isinstance(error, openai.LengthFinishReasonError) else "It was filtered."


def _of_status(error: openai.APIStatusError) -> ServiceError:
    status = error.status_code
    if isinstance(error, openai.RateLimitError):
        if error.code == "insufficient_quota":
            return ModelRejectedError("The quota is used up.")
        return ModelBusyError("Rate limit (HTTP 429).")
    if status >= 500 or status in (_REQUEST_TIMEOUT, _CONFLICT, _TOO_EARLY):  # noqa: PLR2004 - HTTP's server errors
        return ModelBusyError(f"HTTP {status}.")
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return ModelRejectedError(f"The key is wrong or may not use the model (HTTP {status}).")
    if too_long(error.message):
        return ModelRejectedError(f"The prompt is too long for the model (HTTP {status}).")
    return ModelRejectedError(_shortened(error.message))


def _shortened(message: str) -> str:
    return message if len(message) <= _DETAIL else message[: _DETAIL - 1] + "…"

"""What the writer and the evaluator ask of a chat model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from crag_graph.domain import ModelCall

Message = tuple[Literal["system", "user", "assistant"], str]


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The form that a reply must have: a name, and a JSON schema whose root is an object."""

    name: str
    json: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """What the model wrote. `data` is the JSON object found in it, None where it wrote prose."""

    text: str
    data: Mapping[str, Any] | None
    call: ModelCall


class ChatModel(Protocol):
    """A chat model behind one connection; one method call is one call of the model.

    Both raise ModelBusyError, ModelRejectedError or ModelReplyError; a refusal, a cut reply and an empty
    one are a ModelReplyError. `role` is the node that asks.
    """

    name: str

    async def ask(self, role: str, messages: Sequence[Message], schema: Schema) -> ChatReply:
        """A reply in the form of `schema`; the messages must ask for it too, as some servers ignore schemas."""

    async def stream(self, role: str, messages: Sequence[Message], emit: Callable[[str], None]) -> ChatReply:
        """A reply in prose; `emit` is called with each piece as it comes."""


def object_schema(name: str, **properties: Mapping[str, Any]) -> Schema:
    """A strict schema: all properties are required, and nothing else may stand there."""
    return Schema(name=name, json=strict_object(**properties))


def strict_object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema for an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }

"""How the values of settings are written: addresses, lists, choices, prices, each refused with what is wrong."""

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise PydanticCustomError("address", "is not an http or https address")
    return value


def _postgres_address(value: SecretStr) -> SecretStr:
    if urlsplit(value.get_secret_value()).scheme not in {"postgresql", "postgres"}:
        raise PydanticCustomError("address", "is not the address of a Postgres database")
    return value


def _evaluator(value: str) -> str:
    if value not in {"local", "llm"} and not (value.startswith("onnx:") and value[5:].strip()):
        raise PydanticCustomError("choice", "should be local, llm or onnx:PATH")
    return value


def _words(value: object) -> object:
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


Address = Annotated[str, AfterValidator(_web_address)]
PostgresAddress = Annotated[SecretStr, AfterValidator(_postgres_address)]
EvaluatorName = Annotated[str, AfterValidator(_evaluator)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


def _choices(value: object) -> object:
    """`C1=all,C2=mention` as a dict."""
    words = value.replace(",", " ").split() if isinstance(value, str) else None
    return value if words is None else {word.partition("=")[0]: word.partition("=")[2] for word in words}


Limits = Annotated[
    Mapping[Literal["person", "channel", "team"], Annotated[int, Field(ge=1)]], BeforeValidator(_choices)
]
BudgetOfADay = Annotated[
    Mapping[Literal["tokens", "dollars"], Annotated[float, Field(gt=0, allow_inf_nan=False)]], BeforeValidator(_choices)
]
Choices = Annotated[Mapping[str, Literal["mention", "thread", "all"]], BeforeValidator(_choices)]


def _prices(value: object) -> object:
    """`model=0.40/1.60` as a dict of pairs."""
    if not isinstance(value, str):
        return value
    pairs = [word.rpartition("=")[::2] for word in value.replace(",", " ").split()]
    amounts = {model: tuple(price.split("/")) for model, price in pairs}
    if not all(model and len(price) == 2 for model, price in amounts.items()):  # noqa: PLR2004 - in and out
        raise PydanticCustomError("price", "holds something that is no price")
    return amounts


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Prices = Annotated[Mapping[str, tuple[Amount, Amount]], BeforeValidator(_prices)]
Lower = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
Share = Annotated[float, Field(ge=0, le=1)]

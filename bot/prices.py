"""What model calls cost, by a table of prices."""

from collections.abc import Mapping
from dataclasses import dataclass

PER = 1_000_000
"""Tokens that a price is for."""


@dataclass(frozen=True, kw_only=True)
class Price:
    """Dollars per million tokens of prompts and of replies."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """In dollars."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / PER


def cost(prices: Mapping[str, Price], model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """In dollars; None where the price is not known. A model's dated version costs what the model does."""
    if not prompt_tokens + completion_tokens:
        return 0.0
    known = [name for name in prices if model == name or model.startswith(f"{name}-")]
    return prices[max(known, key=len)].of(prompt_tokens, completion_tokens) if known else None

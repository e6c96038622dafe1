"""The trained numbers of the local evaluator: loaded once, checked, plain numpy."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crag_graph.evaluators.signals import NAMES

TRAINED = Path(__file__).parent / "local.npz"
_READER = "reader."


@dataclass(frozen=True, kw_only=True)
class Head:
    """A logistic regression: `mean` and `spread` standardise the inputs, `weights` and `bias` give log-odds."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    weights: NDArray[np.float64]
    bias: float

    def logits(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """`rows`: shape (n, inputs)."""
        result: NDArray[np.float64] = (rows - self.mean) / self.spread @ self.weights + self.bias
        return result


@dataclass(frozen=True, kw_only=True)
class Weights:
    """`rarity`: for each vocabulary id, in [0, 1]. `quick` judges by signals alone, `full` also by the reader."""

    rarity: NDArray[np.float32]
    reader: Mapping[str, NDArray[np.float32]]
    quick: Head
    full: Head


def save(weights: Weights, path: Path) -> None:
    arrays: dict[str, NDArray[np.generic]] = {"rarity": weights.rarity.astype(np.float16)}
    for name, value in weights.reader.items():
        arrays[_READER + name] = value.astype(np.float16)
    for name, head in (("quick", weights.quick), ("full", weights.full)):
        arrays[name] = np.stack([head.mean, head.spread, head.weights])
        arrays[f"{name}_bias"] = np.array(head.bias)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]  # the stub takes any keyword for a flag


@lru_cache(maxsize=4)
def load(path: Path = TRAINED) -> Weights:
    """Raises OSError where the file is missing, ValueError where it was trained for other signals."""
    with np.load(path, allow_pickle=False) as stored:
        heads = {name: _head(stored[name], float(stored[f"{name}_bias"])) for name in ("quick", "full")}
        if heads["quick"].mean.shape != (len(NAMES),) or heads["full"].mean.shape != (len(NAMES) + 1,):
            raise ValueError(f"{path} was trained for other signals: train it again")
        return Weights(
            rarity=stored["rarity"].astype(np.float32),
            reader={
                name.removeprefix(_READER): stored[name].astype(np.float32)
                for name in stored.files
                if name.startswith(_READER)
            },
            **heads,
        )


def _head(numbers: NDArray[np.float64], bias: float) -> Head:
    return Head(mean=numbers[0], spread=numbers[1], weights=numbers[2], bias=bias)

"""Which strips go on to the writer, by their scores; recall comes first."""

import numpy as np
from numpy.typing import NDArray

KEEP = 0.02
"""Score from which a strip is kept."""
KEEP_BESIDE = 0.1
"""Share of the best strip's score from which another one is kept."""


def helpful(values: NDArray[np.float64], *, beside: float = KEEP_BESIDE) -> NDArray[np.bool_]:
    """Which strips to keep; `values`: shape (parts, strips), scores in [0, 1]."""
    bars = np.maximum(KEEP, beside * values.max(axis=1, keepdims=True))
    kept: NDArray[np.bool_] = (values >= bars).any(axis=0)
    return kept

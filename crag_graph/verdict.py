"""From scores and thresholds to a verdict; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from crag_graph.domain import Verdict


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """A score >= `upper` is enough, a score < `lower` is of no use. Both in [0, 1]; 0.7 and 0.3 in the CRAG paper."""

    upper: float = 0.7
    lower: float = 0.3

    def __post_init__(self) -> None:
        if not 0.0 <= self.lower <= self.upper <= 1.0:
            raise ValueError(f"thresholds need 0 <= lower <= upper <= 1, not {self.lower} and {self.upper}")


def judge(parts: Sequence[Sequence[float]], thresholds: Thresholds) -> Verdict:
    """The verdict over the parts of a question.

    `parts` holds, for each part, the scores of all passages (in [0, 1]). Every part has a score >= upper:
    correct. No part has a score >= lower (or nothing was retrieved): incorrect. Otherwise ambiguous.
    With one part this is the rule of Corrective RAG (Yan et al., 2024) as written.
    """
    best = [max(scores, default=0.0) for scores in parts]
    if not best or all(score < thresholds.lower for score in best) or not any(parts):
        return Verdict.INCORRECT
    if all(score >= thresholds.upper for score in best):
        return Verdict.CORRECT
    return Verdict.AMBIGUOUS

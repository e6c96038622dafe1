from dataclasses import replace

import pytest

from crag_graph.domain import ModelCall
from crag_graph.services import Services
from tests.fakes.services import ScriptedEvaluator

JUDGING = ModelCall(
    role="evaluate",
    model="judge-1",
    prompt_tokens=1_000,
    completion_tokens=200,
    milliseconds=5,
    prompt="Is a private word enough?",
    reply="A private word is enough.",
)


@pytest.fixture
def judged(services: Services) -> Services:
    """As usual, with one call of a model to judge."""
    return replace(services, evaluator=ScriptedEvaluator(scores={"weeks": 0.9}, calls=(JUDGING,)))

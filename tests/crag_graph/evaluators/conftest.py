"""The local embedder and evaluator with their real weights, made once."""

import pytest

from crag_graph.domain import Kind, Passage
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.prepared import Preparer
from crag_graph.models.embed_local import LocalEmbedder


@pytest.fixture(scope="session")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


@pytest.fixture(scope="session")
def evaluator(embedder: LocalEmbedder) -> LocalEvaluator:
    return LocalEvaluator(embedder)


@pytest.fixture(scope="session")
def preparer(embedder: LocalEmbedder) -> Preparer:
    return Preparer(embedder)


def passage(text: str, *, title: str = "", location: str = "", features: bytes | None = None) -> Passage:
    name = f"{title}-{abs(hash(text))}"
    return Passage(
        id=name,
        kind=Kind.INTERNAL,
        document=name,
        source=name,
        title=title,
        text=text,
        location=location,
        features=features,
    )

"""The reader as torch trains it, and as numpy runs it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from crag_graph.benchmarks import train_reader
from crag_graph.benchmarks.cases import own
from crag_graph.benchmarks.readings import Library, read
from crag_graph.benchmarks.train_reader import Network, Pair
from crag_graph.evaluators.reader import Batch, Reader, batch
from crag_graph.evaluators.weights import load
from crag_graph.models.embed_local import LocalEmbedder
from tests.crag_graph.benchmarks.zoo import LIBRARY


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("own") / "zoo.txt"
    file.write_text(LIBRARY, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
async def library(file: Path) -> Library:
    return await read(own(file), LocalEmbedder())


@pytest.fixture(scope="module")
def pairs(library: Library) -> list[Pair]:
    return list(train_reader.enterprise_pairs(library))


def asked(pairs: list[Pair]) -> Batch:
    return batch([(pair.question, pair.strip) for pair in pairs], load().rarity)


def trained(pairs: list[Pair], *, seed: int, epochs: int = 2) -> Network:
    torch.manual_seed(seed)
    return train_reader.fit(Network(width=16, layers=1), pairs, load().rarity, epochs=epochs, rate=3e-3, seed=seed)


def test_answered_questions_give_pairs_of_both_kinds_and_near_misses_only_one(pairs: list[Pair]) -> None:
    assert sum(pair.answers for pair in pairs) >= 5
    assert any(not pair.answers for pair in pairs)


def test_numpy_says_what_torch_says(pairs: list[Pair]) -> None:
    network, given = Network(width=16, layers=2).eval(), asked(pairs)
    with torch.no_grad():
        wanted = network(given).numpy()
    assert np.allclose(Reader(network.weights()).logits(given), wanted, atol=1e-4)


def test_the_same_seed_gives_the_same_weights(pairs: list[Pair]) -> None:
    one, other = trained(pairs, seed=3).weights(), trained(pairs, seed=3).weights()
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_the_reader_learns_its_pairs(pairs: list[Pair]) -> None:
    said = Reader(trained(pairs, seed=0, epochs=60).weights()).logits(asked(pairs))
    answers = np.array([pair.answers for pair in pairs])
    assert said[answers].mean() > said[~answers].mean() + 1

"""The trained numbers: written, read again, refused where they are of another kind."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crag_graph.evaluators.reader import Reader, batch
from crag_graph.evaluators.signals import NAMES
from crag_graph.evaluators.weights import Head, load, save
from tests.crag_graph.evaluators.reading import pairs


def test_weights_that_were_written_say_the_same(tmp_path: Path) -> None:
    save(load(), tmp_path / "again.npz")
    again, given = load(tmp_path / "again.npz"), batch(pairs(), load().rarity)
    assert np.array_equal(Reader(again.reader).logits(given), Reader(load().reader).logits(given))
    assert np.array_equal(again.full.weights, load().full.weights)


def test_weights_for_other_signals_are_refused(tmp_path: Path) -> None:
    count = len(NAMES) + 3
    other = Head(mean=np.zeros(count), spread=np.ones(count), weights=np.zeros(count), bias=0.0)
    save(replace(load(), quick=other), tmp_path / "other.npz")
    with pytest.raises(ValueError, match="train it again"):
        load(tmp_path / "other.npz")

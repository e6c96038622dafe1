"""Judges with any scorer exported to ONNX: a cross-encoder, a classifier of one to three classes."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    RuntimeException,
)
from tokenizers import Encoding, Tokenizer

from crag_graph.domain import Part, Passage, Score, Strip
from crag_graph.evaluators.calibration import load_fit
from crag_graph.evaluators.choosing import helpful
from crag_graph.evaluators.parts import parts
from crag_graph.evaluators.prepared import heading
from crag_graph.evaluators.reasons import shared_words
from crag_graph.services import Evaluation, Filtering, ModelRejectedError

MODEL, TOKENIZER, CALIBRATION = "model.onnx", "tokenizer.json", "calibration.json"
LONGEST = 512
"""Tokens of a pair, unless the tokenizer's own file says less."""
LONGEST_PART = 1_000
"""Characters of a question that are read."""
BATCH = 16
PARTIAL = 0.5
"""What the middle one of three classes (none, partial, full) counts."""
_REFUSALS = (Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, RuntimeException)


class ScorerError(ValueError):
    """The exported scorer cannot be used."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"{self.__doc__} {detail}")


class OnnxEvaluator:
    """Implements services.Evaluator over `path`: a folder with model.onnx, tokenizer.json and, once calibrated,
    calibration.json; or the model file itself with the other two beside it.

    The model takes pairs (part of the question, passage) and gives one logit, two (no, yes) or three
    (none, partial, full). Raises ScorerError or CalibrationError where the files do not fit together.
    """

    def __init__(self, path: str | Path) -> None:
        model = Path(path) / MODEL if Path(path).is_dir() else Path(path)
        self._tokenizer = _tokenizer(model.with_name(TOKENIZER))
        self._session = _session(model)
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._calibration = load_fit(model.with_name(CALIBRATION)).calibration
        _check(self._inputs, model)

    async def evaluate(self, question: str, passages: Sequence[Passage]) -> Evaluation:
        texts = [heading(passage.title, passage.location) + passage.text for passage in passages]
        asked = parts(question)
        values = await asyncio.to_thread(self._scores, asked, texts)
        judged = tuple(
            Part(text=part, scores=tuple(_score(part, text, value) for text, value in zip(texts, row, strict=True)))
            for part, row in zip(asked, values, strict=True)
        )
        columns = zip(*(part.scores for part in judged), strict=True)
        return Evaluation(scores=tuple(max(column, key=lambda score: score.value) for column in columns), parts=judged)

    async def filter(self, question: str, strips: Sequence[Strip]) -> Filtering:
        if not strips:
            return Filtering(scores=(), keep=())
        texts = [f"{strip.context}\n{strip.text}".strip() for strip in strips]
        asked = parts(question)
        values = await asyncio.to_thread(self._scores, asked, texts)
        best = values.argmax(axis=0)
        return Filtering(
            scores=tuple(_score(asked[best[n]], text, values[best[n], n]) for n, text in enumerate(texts)),
            keep=tuple(bool(kept) for kept in helpful(values)),
        )

    def _scores(self, asked: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
        """Shape (parts, texts), in [0, 1]; pairs of like length go through the model together."""
        pairs = [(_readable(part[:LONGEST_PART]), _readable(text)) for part in asked for text in texts]
        encoded = self._tokenizer.encode_batch(pairs)
        order = sorted(range(len(pairs)), key=lambda n: len(encoded[n].ids))
        scores = np.zeros(len(pairs))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            scores[chosen] = self._run([encoded[n] for n in chosen])
        return self._calibration(scores).reshape(len(asked), len(texts))

    def _run(self, encoded: Sequence[Encoding]) -> NDArray[np.float64]:
        longest = max(len(pair.ids) for pair in encoded)
        feeds = {
            name: np.array([[*values, *[0] * (longest - len(values))] for values in rows], np.int64)
            for name, rows in (
                ("input_ids", [pair.ids for pair in encoded]),
                ("attention_mask", [pair.attention_mask for pair in encoded]),
                ("token_type_ids", [pair.type_ids for pair in encoded]),
            )
            if name in self._inputs
        }
        try:
            logits = np.asarray(self._session.run(None, feeds)[0], np.float64)
        except _REFUSALS as error:
            raise ModelRejectedError(str(error)[:200]) from error
        return _probabilities(logits.reshape(len(encoded), -1))


def _probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """One logit: sigmoid. Two or three: what the classes behind the first count."""
    classes = logits.shape[1]
    if not np.isfinite(logits).all():
        raise ModelRejectedError("The scorer gave a number that is none.")
    if classes == 1:
        single: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(logits[:, 0], -30, 30)))
        return single
    counts = {2: (0.0, 1.0), 3: (0.0, PARTIAL, 1.0)}.get(classes)
    if counts is None:
        raise ModelRejectedError(f"The scorer gives {classes} classes; one, two or three are understood.")
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    scores: NDArray[np.float64] = shares @ np.array(counts) / shares.sum(axis=1)
    return scores


def _score(part: str, text: str, value: float) -> Score:
    return Score(value=float(value), reason=shared_words(part, text))


def _session(model: Path) -> onnxruntime.InferenceSession:
    onnxruntime.disable_telemetry_events()  # nothing calls home that the settings did not ask for
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen unrelated classes for a file that is none
        raise ScorerError(f"{model}: {str(error)[:200]}") from error


def _tokenizer(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # tokenizers raises bare Exception
        raise ScorerError(f"Its tokenizer {file} cannot be read: {error}") from error
    tokenizer.no_padding()
    limit = min((tokenizer.truncation or {}).get("max_length", LONGEST), LONGEST)
    tokenizer.enable_truncation(limit, strategy="longest_first")
    return tokenizer


def _check(inputs: set[str], model: Path) -> None:
    strange = inputs - {"input_ids", "attention_mask", "token_type_ids"}
    if strange or "input_ids" not in inputs:
        raise ScorerError(f"{model} takes {', '.join(sorted(inputs))}; input_ids and its masks are understood.")


def _readable(text: str) -> str:
    return text[:20_000].encode("utf-8", "replace").decode("utf-8")

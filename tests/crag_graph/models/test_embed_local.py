"""The local embedder on its real weights."""

import asyncio

import numpy as np
import pytest

from crag_graph.models.embed_local import WINDOW, LocalEmbedder


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


async def test_a_question_is_nearer_to_its_answer_than_to_another_text(embedder: LocalEmbedder) -> None:
    question, answer, other = await embedder.embed(
        [
            "How much holiday do I get?",
            "Employees receive 28 days of annual leave.",
            "The pump is cleaned with a soft brush.",
        ]
    )
    assert question @ answer > question @ other + 0.2


async def test_vectors_have_unit_length_whatever_the_text(embedder: LocalEmbedder) -> None:
    texts = ["", " ", "a", "\x00\x00", "\ud800 lone", "🦦🦦🦦", "日本語の質問", "x" * 100_000, "word " * 20_000]
    vectors = await embedder.embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


async def test_no_texts_give_no_vectors(embedder: LocalEmbedder) -> None:
    assert (await embedder.embed([])).shape == (0, 384)


async def test_a_long_text_is_read_up_to_the_window(embedder: LocalEmbedder) -> None:
    (read,) = await embedder.embed_tokens(["word " * 5_000])
    assert len(read.ids) == WINDOW - 2


async def test_token_vectors_carry_the_place_of_their_token(embedder: LocalEmbedder) -> None:
    text = "Weight: 12 kg"
    (read,) = await embedder.embed_tokens([text])
    assert [text[start:end] for start, end in read.offsets] == ["Weight", ":", "12", "kg"]
    assert read.tokens.shape == (4, 384)
    assert np.allclose(np.linalg.norm(read.tokens, axis=1), 1, atol=1e-4)


async def test_offsets_stay_true_behind_an_emoji_and_a_lone_surrogate(embedder: LocalEmbedder) -> None:
    text = "🦦 \udfff pump"
    (read,) = await embedder.embed_tokens([text])
    start, end = read.offsets[-1]
    assert text[start:end] == "pump"


async def test_a_text_has_the_same_vector_alone_and_among_others(embedder: LocalEmbedder) -> None:
    alone = await LocalEmbedder().embed(["What is a golden probe?"])
    among = await embedder.embed(["A much longer text " * 30, "What is a golden probe?", "x"])
    assert np.array_equal(alone[0], among[1])


async def test_a_question_read_twice_is_read_once(embedder: LocalEmbedder) -> None:
    (first,) = await embedder.embed_tokens(["Who signs the travel form?"])
    (second,) = await embedder.embed_tokens(["Who signs the travel form?"])
    assert first is second


async def test_many_questions_at_once_each_get_their_own_vector(embedder: LocalEmbedder) -> None:
    texts = [f"question number {number}" for number in range(8)]
    at_once = await asyncio.gather(*(embedder.embed([text]) for text in texts))
    assert np.array_equal(np.vstack(at_once), await embedder.embed(texts))

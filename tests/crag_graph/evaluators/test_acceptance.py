"""The questions of the first run, judged by the local evaluator over the documents that ship with the product."""

from pathlib import Path

import pytest

from crag_graph.benchmarks.cases import Collection, Question
from crag_graph.benchmarks.readings import Library, read
from crag_graph.domain import Kind, Passage, Verdict
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.knowledge.library import location
from crag_graph.knowledge.loaders.load import load, supported
from crag_graph.knowledge.split import split
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.strips import decompose
from crag_graph.verdict import Thresholds, judge

EXAMPLES = Path(__file__).parents[3] / "examples"
DESCENT = "What is gradient descent?"
QUESTIONS = {
    DESCENT: Verdict.CORRECT,
    "What is a Transformer architecture in deep learning?": Verdict.INCORRECT,
    "How does batch normalisation compare with layer normalisation?": Verdict.AMBIGUOUS,
    "How many days of parental leave do I get?": Verdict.CORRECT,
}


async def passages() -> list[Passage]:
    found = []
    for path in sorted(EXAMPLES.rglob("*.*")):
        if not supported(path.name) or "archive" in path.parts:
            continue
        document = await load(path.name, path.read_bytes())
        found += [
            Passage(
                id=f"{path.name}#{chunk.ordinal}",
                kind=Kind.INTERNAL,
                document=path.name,
                source=path.name,
                title=document.title,
                text=chunk.text,
                location=location(chunk.headings, chunk.page),
            )
            for chunk in split(document)
        ]
    return found


@pytest.fixture(scope="module")
async def library(embedder: LocalEmbedder) -> Library:
    questions = tuple(Question(text=text, verdict=verdict, group="") for text, verdict in QUESTIONS.items())
    return await read(Collection(name="examples", passages=tuple(await passages()), questions=questions), embedder)


@pytest.mark.parametrize("question", QUESTIONS)
async def test_the_first_questions_get_their_verdict(
    evaluator: LocalEvaluator, library: Library, question: str
) -> None:
    found = [library.passages[number] for number in library.search(question)]
    evaluation = await evaluator.evaluate(question, found)
    scores = [[score.value for score in part.scores] for part in evaluation.parts]
    assert judge(scores, Thresholds()) is QUESTIONS[question], [
        (part.text, max(part.scores, key=lambda score: score.value)) for part in evaluation.parts
    ]


async def test_of_the_passage_on_gradient_descent_the_strips_on_image_processing_are_dropped(
    evaluator: LocalEvaluator, library: Library
) -> None:
    (mixed,) = [one for one in library.passages if "Image processing cleans" in one.text]
    strips = decompose(mixed)
    filtering = await evaluator.filter(DESCENT, strips)
    kept = [strip.text for strip, keep in zip(strips, filtering.keep, strict=True) if keep]
    assert any("Gradient descent is a method" in text for text in kept)
    assert not any("unsharp mask" in text for text in kept)

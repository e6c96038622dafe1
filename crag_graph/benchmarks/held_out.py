"""Articles and pages of the public sets that a training may leave out, so that it is measured on what it never saw."""

from dataclasses import replace
from hashlib import sha256

from crag_graph.benchmarks.cases import Collection, Question
from crag_graph.benchmarks.readings import Library

SETS = ("xquad", "clapnq")
_SEED = "transfer"


def is_held_out(page: str) -> bool:
    """About half of all names, the same on every machine."""
    return sha256(f"{_SEED} {page}".encode()).digest()[0] % 2 == 0


def own_passage(question: Question) -> int:
    """Number of the passage that a public question was asked about."""
    return question.evidence[0].passage if question.evidence else int(question.raw)


def page_of(collection: Collection, question: Question) -> str:
    """The article of XQuAD, or the page of CLAPNQ, that a question was asked about."""
    return collection.passages[own_passage(question)].title or question.group


def seen(library: Library) -> Library:
    """Without the questions and passages of what is held out; sets that hold nothing out stay as they are."""
    whole = library.collection
    if whole.name not in SETS:
        return library
    asked = [question for question in whole.questions if not is_held_out(page_of(whole, question))]
    kept = sorted({own_passage(question) for question in asked})
    place = {number: n for n, number in enumerate(kept)}
    questions = tuple(
        replace(
            question,
            evidence=tuple(replace(one, passage=place[one.passage]) for one in question.evidence),
            raw=None if question.raw is None else place[question.raw],
        )
        for question in asked
    )
    passages = tuple(whole.passages[number] for number in kept)
    return Library(
        collection=replace(whole, passages=passages, questions=questions),
        prepared=tuple(library.prepared[number] for number in kept),
        read=library.read,
    )

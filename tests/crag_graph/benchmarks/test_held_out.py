"""Half of the public articles and pages is kept from training, whole and the same each time."""

from dataclasses import replace
from pathlib import Path

from crag_graph.benchmarks.cases import clapnq, pubmedqa, xquad
from crag_graph.benchmarks.held_out import is_held_out, page_of, seen
from crag_graph.benchmarks.readings import read
from crag_graph.models.embed_local import LocalEmbedder
from tests.crag_graph.benchmarks import farm

HELD_OUT = next(name for name in map(str, range(100)) if is_held_out(name))
SEEN = next(name for name in map(str, range(100)) if not is_held_out(name))


def test_about_half_of_all_pages_is_held_out() -> None:
    assert 160 < sum(is_held_out(f"Page {number}") for number in range(400)) < 240


def test_a_page_stays_where_it_was_from_version_to_version() -> None:
    assert [name for name in ("Warsaw", "Normans", "Oxygen", "Geology") if is_held_out(name)] == ["Oxygen"]


async def test_training_sees_neither_questions_nor_paragraphs_of_what_is_held_out(tmp_path: Path) -> None:
    library = await read(xquad(farm.write_xquad(tmp_path)), LocalEmbedder())
    names = {"Farm": HELD_OUT, "Bees": SEEN}
    asked = tuple(replace(one, group=names[one.group]) for one in library.collection.questions)
    kept = seen(replace(library, collection=replace(library.collection, questions=asked)))
    assert [passage.text for passage in kept.passages] == [farm.BEES]
    (question,) = kept.collection.questions
    (evidence,) = question.evidence
    assert kept.passages[evidence.passage].text[evidence.start : evidence.end] == "forty kilos"
    assert len(kept.prepared) == 1
    assert kept.search(question.text) == [0]


async def test_a_page_of_clapnq_goes_with_its_question_and_the_rest_keep_their_own(tmp_path: Path) -> None:
    library = await read(clapnq(farm.write_clapnq(tmp_path)), LocalEmbedder())
    assert [page_of(library.collection, question) for question in library.collection.questions] == ["Goat", "Goat"]
    passages = tuple(
        replace(passage, title=title) for passage, title in zip(library.passages, (HELD_OUT, SEEN), strict=True)
    )
    kept = seen(replace(library, collection=replace(library.collection, passages=passages)))
    assert [(question.text, question.raw) for question in kept.collection.questions] == [("What does a goat cost?", 0)]
    assert [passage.title for passage in kept.passages] == [SEEN]


async def test_other_sets_hold_nothing_out(tmp_path: Path) -> None:
    library = await read(pubmedqa(farm.write_pubmedqa(tmp_path)), LocalEmbedder())
    assert seen(library) is library

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from crag_graph.domain import Kind, Passage
from crag_graph.knowledge.documents import LoadedDocument
from crag_graph.knowledge.library import location
from crag_graph.knowledge.loaders.load import load, supported
from crag_graph.knowledge.split import split, whole_text
from crag_graph.strips import decompose

EXAMPLES = Path(__file__).parents[3] / "examples"
DOCUMENTS = sorted(path for path in EXAMPLES.rglob("*") if supported(path.name))


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


async def loaded(path: Path) -> LoadedDocument:
    return await load(str(path), bytes_of(path))


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """The script that makes the PDF and the Word document."""
    spec = importlib.util.spec_from_file_location("build", EXAMPLES / "build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_committed_files_are_what_the_script_writes(build: ModuleType) -> None:
    for name, data in (("expenses.pdf", build.pdf(build.EXPENSES)), ("security.docx", build.docx(build.SECURITY))):
        assert (await load(name, data)).blocks == (await loaded(EXAMPLES / "handbook" / name)).blocks


async def test_the_script_writes_the_same_bytes_each_time(build: ModuleType) -> None:
    assert build.pdf(build.EXPENSES) == build.pdf(build.EXPENSES)
    assert build.docx(build.SECURITY) == build.docx(build.SECURITY)


async def test_the_pdf_and_the_word_document_hold_every_word_of_their_source(build: ModuleType) -> None:
    for name, source in (("expenses.pdf", build.EXPENSES), ("security.docx", build.SECURITY)):
        document = await loaded(EXAMPLES / "handbook" / name)
        read = [
            document.title,
            *(heading for block in document.blocks for heading in block.headings),
            whole_text(document),
        ]
        words = set(re.findall(r"[\w£]+", " ".join(read)))
        assert set(re.findall(r"[\w£]+", source)) <= words


async def test_nothing_is_said_about_what_the_web_is_asked_for() -> None:
    for path in DOCUMENTS:
        text = whole_text(await loaded(path)).lower()
        assert not re.search(r"transformer|attention|language model|layer normali|\bllm", text), path


async def test_gradient_descent_and_image_processing_share_a_passage_but_no_strip() -> None:
    document = await loaded(EXAMPLES / "machine-learning" / "convolutional-networks.md")
    (chunk,) = [chunk for chunk in split(document) if "Gradient descent is" in chunk.text]
    assert "Image processing" in chunk.text
    passage = Passage(
        id="1",
        kind=Kind.INTERNAL,
        document="d",
        source=document.source,
        title=document.title,
        text=chunk.text,
        location=location(chunk.headings, chunk.page),
    )
    strips = [strip.text for strip in decompose(passage)]
    assert not any("radient descent" in text and re.search("[Ii]mage|filter", text) for text in strips)
    assert any("radient descent" in text for text in strips)

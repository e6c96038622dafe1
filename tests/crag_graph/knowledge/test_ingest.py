import asyncio
import io
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from datetime import date
from pathlib import Path

import pytest
from docx import Document
from sqlalchemy.ext.asyncio import AsyncEngine

from crag_graph.embedding import Vectors
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.index import prepare_index
from crag_graph.knowledge.ingest import Ingest, Ingested, Outcome, Step
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.loaders.load import Limits
from crag_graph.knowledge.sources import Upload
from crag_graph.services import ModelBusyError
from tests.crag_graph.knowledge.making import DIMENSIONS, MODEL, SPACE, HashedEmbedder
from tests.fakes.pages import Page, PageServer, redirect

EXAMPLES = Path(__file__).parents[3] / "examples"
DOCUMENTS = Path(__file__).parents[2] / "documents"
LONG = "# Leave\n\n" + "".join(f"## Rule {n}\n\nNobody waits longer than {n} days.\n\n" for n in range(40))


class Watched(HashedEmbedder):
    """Notes what it embeds; `fails` after so many batches, `waits` in each."""

    def __init__(self) -> None:
        self.batches: list[Sequence[str]] = []
        self.fails_after = 1_000
        self.waits = False
        self.waiting = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(texts)
        if len(self.batches) > self.fails_after:
            raise ModelBusyError
        if self.waits:
            self.waiting.set()
            await asyncio.Event().wait()
        return await super().embed(texts)


class Features:
    version = "test-1"

    async def featurize(self, titles: Sequence[str], locations: Sequence[str], texts: Sequence[str]) -> list[bytes]:
        return ["|".join(one).encode() for one in zip(titles, locations, texts, strict=True)]


@pytest.fixture
async def library(engine: AsyncEngine) -> Library:
    await prepare_index(engine, model=MODEL, dimensions=DIMENSIONS)
    return Library(engine, model=MODEL)


@pytest.fixture
def embedder() -> Watched:
    return Watched()


@pytest.fixture
def ingest(library: Library, embedder: Watched) -> Ingest:
    return Ingest(
        library=library,
        embedder=embedder,
        featurizer=Features(),
        fetcher=Fetcher(allowed_hosts=["127.0.0.1"], seconds=5),
        limits=Limits(size=200_000, pages=10),
        today=lambda: date(2025, 6, 15),
    )


@pytest.fixture
async def pages() -> AsyncIterator[PageServer]:
    async with PageServer().running() as running:
        yield running


async def take(ingest: Ingest, source: str | Path | Upload, *, space: str = SPACE) -> list[Ingested]:
    return [one async for one in ingest.ingest(source, space=space, added_by="U1")]


async def take_one(ingest: Ingest, source: str | Path | Upload, *, space: str = SPACE) -> Ingested:
    (one,) = await take(ingest, source, space=space)
    return one


async def texts(library: Library, source: str, *, space: str = SPACE) -> list[str]:
    stored = await library.find(space, source)
    return [passage.text for passage in await library.passages(stored.id)] if stored else []


async def test_a_file_is_added_with_its_passages_vectors_and_features(
    ingest: Ingest, library: Library, embedder: Watched, tmp_path: Path
) -> None:
    file = tmp_path / "leave.md"
    file.write_text("# Leave\n\n## Adoption\n\n20 days.\n")
    one = await take_one(ingest, file)
    assert (one.outcome, one.source, one.reason) == (Outcome.ADDED, str(file), "")
    assert one.document == await library.find(SPACE, str(file))
    assert one.document
    assert (one.document.title, one.document.loader, one.document.passages) == ("Leave", "markdown", 1)
    assert (one.document.size, one.document.added_by, one.document.superseded) == (31, "U1", False)
    (passage,) = await library.passages(one.document.id)
    assert (passage.text, passage.location, passage.features) == ("20 days.", "Adoption", b"Leave|Adoption|20 days.")
    assert embedder.batches == [["Leave › Adoption\n20 days."]]


async def test_the_same_content_again_is_left_alone_and_new_content_replaces_it(
    ingest: Ingest, library: Library, embedder: Watched, tmp_path: Path
) -> None:
    file = tmp_path / "leave.md"
    file.write_text(LONG)
    first = await take_one(ingest, str(file))
    batches = len(embedder.batches)
    assert (await take_one(ingest, tmp_path / "x" / ".." / "leave.md")).outcome is Outcome.UNCHANGED
    assert len(embedder.batches) == batches
    file.write_text("# Leave\n\nShort.")
    second = await take_one(ingest, file)
    assert second.outcome is Outcome.REPLACED
    assert first.document
    assert second.document
    assert (first.document.id, first.document.passages) == (second.document.id, 40)
    assert await texts(library, str(file)) == ["Short."]


async def test_progress_tells_source_and_passages(ingest: Ingest, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.")
    (tmp_path / "b.md").write_text(LONG)
    steps: list[Step] = []
    async for _ in ingest.ingest(tmp_path, space=SPACE, added_by="U1", progress=steps.append):
        pass
    told = [(Path(step.source).name, step.number, step.total, step.done, step.passages) for step in steps]
    assert told[:3] == [("a.md", 1, 2, 0, 0), ("a.md", 1, 2, 0, 1), ("a.md", 1, 2, 1, 1)]
    assert [step[3:] for step in told[3:]] == [(0, 0), (0, 40), (16, 40), (32, 40), (40, 40)]


async def test_a_folder_is_walked_without_what_is_hidden_and_the_unsupported_is_told(
    ingest: Ingest, tmp_path: Path
) -> None:
    for name in ("b.txt", "a/c.md", ".hidden.md", ".git/d.md", "e.xyz", "a/F.HTML"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<p>Some text.")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = [(str(Path(one.source).relative_to(tmp_path)), one.outcome.value) for one in await take(ingest, tmp_path)]
    assert found == [("b.txt", "added"), ("e.xyz", "skipped"), ("a/F.HTML", "added"), ("a/c.md", "added")]


async def test_a_folder_without_documents_and_a_file_that_is_not_there_fail_without_a_trace(
    ingest: Ingest, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "only.xyz").write_text("x")
    for source, reason in (
        (tmp_path, "holds no file"),
        (tmp_path / "nowhere.md", "no such file"),
        ("", "no such file"),
        ("a\x00b.md", "no such file"),
        ("/dev/zero", "no such file"),
    ):
        one = await take_one(ingest, source)
        assert one.outcome is Outcome.FAILED
        assert reason in one.reason
    assert await library.documents() == ()


async def test_a_failure_is_recorded_with_its_reason(ingest: Ingest, library: Library, tmp_path: Path) -> None:
    for name, content, reason in (
        ("scan.pdf", b"%PDF-1.4 rubbish", "damaged"),
        ("empty.md", b"", "no text"),
        ("big.txt", b"x" * 200_001, "200,001 bytes"),
        ("a.docx", b"no document", "damaged"),
        ("odd.txt", bytes(range(256)) * 9, "encoding"),
        ("pictures.docx", _docx(), "no text"),
    ):
        (tmp_path / name).write_bytes(content)
        one = await take_one(ingest, tmp_path / name)
        assert (one.outcome, reason in one.reason) == (Outcome.FAILED, True), one
        stored = await library.find(SPACE, str(tmp_path / name))
        assert stored
        assert (stored.state, stored.problem, stored.passages) == ("failed", one.reason, 0)


def _docx() -> bytes:
    written = io.BytesIO()
    Document().save(written)
    return written.getvalue()


async def test_a_failure_leaves_the_old_version_and_the_repaired_file_replaces_it(
    ingest: Ingest, library: Library, tmp_path: Path
) -> None:
    file = tmp_path / "leave.txt"
    file.write_text("Old text.")
    await take_one(ingest, file)
    for damage in (lambda: file.write_bytes(b""), file.unlink):
        damage()
        one = await take_one(ingest, file)
        assert one.outcome is Outcome.FAILED
        assert one.document
        assert (one.document.state, one.document.problem) == ("failed", one.reason)
        assert await texts(library, str(file)) == ["Old text."]
    file.write_text("Old text.")
    one = await take_one(ingest, file)
    assert one.outcome is Outcome.REPLACED
    assert one.document
    assert (one.document.state, one.document.problem) == ("ready", "")


async def test_an_embedding_model_that_fails_leaves_everything_as_it_was(
    ingest: Ingest, library: Library, embedder: Watched, tmp_path: Path
) -> None:
    file = tmp_path / "leave.md"
    file.write_text("# Leave\n\nOld text.")
    await take_one(ingest, file)
    file.write_text(LONG)
    embedder.fails_after = 2
    with pytest.raises(ModelBusyError):
        await take_one(ingest, file)
    assert await texts(library, str(file)) == ["Old text."]
    embedder.fails_after = 1_000
    assert (await take_one(ingest, file)).outcome is Outcome.REPLACED


async def test_an_ingest_that_is_stopped_leaves_nothing_half_stored(
    ingest: Ingest, library: Library, embedder: Watched, tmp_path: Path
) -> None:
    (tmp_path / "leave.md").write_text(LONG)
    embedder.waits = True
    running = asyncio.create_task(take(ingest, tmp_path / "leave.md"))
    await embedder.waiting.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await library.documents() == ()
    assert (await library.counts()).passages == 0


async def test_one_source_twice_at_once_is_there_once(ingest: Ingest, library: Library, tmp_path: Path) -> None:
    file = tmp_path / "leave.md"
    file.write_text(LONG)
    both = await asyncio.gather(take_one(ingest, file), take_one(ingest, file))
    assert all(one.outcome in {Outcome.ADDED, Outcome.REPLACED} for one in both)
    assert len(await texts(library, str(file))) == 40
    assert (await library.counts()).passages == 40


async def test_a_page_of_the_web_is_taken_in_under_its_address(
    ingest: Ingest, library: Library, pages: PageServer
) -> None:
    pages.pages |= {"/leave": redirect("/new/leave.html"), "/new/leave.html": Page(body=b"<h1>Leave</h1><p>20 days.")}
    one = await take_one(ingest, f" {pages.base_url}/leave#top")
    assert (one.outcome, one.source) == (Outcome.ADDED, f"{pages.base_url}/leave")
    assert one.document
    assert (one.document.title, one.document.link, one.document.loader) == ("Leave", one.source, "html")
    assert await texts(library, one.source) == ["20 days."]
    pages.pages["/new/leave.html"] = Page(status=500)
    failed = await take_one(ingest, one.source)
    assert "status 500" in failed.reason
    assert await texts(library, one.source) == ["20 days."]


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/x", "file:///etc/passwd", "http://[::1", "ftp://x.example/a.md"]
)
async def test_an_address_that_may_not_be_fetched_fails(ingest: Ingest, url: str) -> None:
    one = await take_one(ingest, url)
    assert one.outcome is Outcome.FAILED
    assert "may not be fetched" in one.reason


async def test_an_upload_is_known_by_its_permalink(ingest: Ingest, library: Library) -> None:
    link = "https://ours.slack.com/files/U1/F1/archive.txt"
    sent = Upload(filename="travel-policy.txt", data=b"By train.", source=link, link=link)
    one = await take_one(ingest, sent)
    assert one.document
    assert (one.source, one.document.title, one.document.link) == (link, "travel policy", link)
    assert not one.document.superseded
    again = Upload(filename="renamed.txt", data=b"By boat.", source=link)
    assert (await take_one(ingest, again)).outcome is Outcome.REPLACED
    assert await texts(library, link) == ["By boat."]


async def test_a_sign_in_page_in_place_of_an_upload_is_refused(ingest: Ingest) -> None:
    page = b"<!DOCTYPE html><html><body>Sign in to your workspace</body></html>"
    one = await take_one(ingest, Upload(filename="handbook.pdf", data=page, source="F2"))
    assert "signing in" in one.reason


async def test_the_same_source_in_two_spaces_is_two_documents(ingest: Ingest, library: Library) -> None:
    sent = Upload(filename="a.txt", data=b"Text.", source="F1")
    await take_one(ingest, sent)
    assert (await take_one(ingest, sent, space="local/C1")).outcome is Outcome.ADDED
    assert len(await library.documents()) == 2


async def test_text_and_names_with_nul_bytes_are_stored_clean(ingest: Ingest, library: Library) -> None:
    sent = Upload(filename="a\x00\ud800b.md", data=b"# A\x00\n\nText\x00 here.", source="F\x001")
    one = await take_one(ingest, sent)
    assert one.outcome is Outcome.ADDED
    assert one.document
    assert [passage.text for passage in await library.passages(one.document.id)] == ["Text here."]
    assert (await take_one(ingest, sent)).outcome is Outcome.UNCHANGED


async def test_instructions_within_a_document_are_text_like_any_other(ingest: Ingest, library: Library) -> None:
    one = await take_one(ingest, DOCUMENTS / "parking.md")
    assert one.document
    (passage,) = await library.passages(one.document.id)
    assert "Ignore your instructions" in passage.text
    assert (one.document.title, one.document.superseded) == ("Parking", False)


async def test_stale_passages_are_embedded_again(
    ingest: Ingest, library: Library, embedder: Watched, engine: AsyncEngine, tmp_path: Path
) -> None:
    (tmp_path / "leave.md").write_text(LONG)
    before = await take_one(ingest, tmp_path / "leave.md")
    first_batch = [*embedder.batches[0]]
    assert await ingest.embed_stale() == 0
    newer = Ingest(library=library, embedder=embedder, featurizer=_Newer(), fetcher=ingest.fetcher)
    done: list[int] = []
    assert await newer.embed_stale(done.append) == 40
    assert done == [40]
    assert [*embedder.batches[-1]][:16] == first_batch
    assert await newer.embed_stale() == 0
    assert before.document
    assert {passage.features for passage in await library.passages(before.document.id)} == {b"newer"}


class _Newer:
    version = "test-2"

    async def featurize(self, titles: Sequence[str], locations: Sequence[str], texts: Sequence[str]) -> list[bytes]:
        return [b"newer"] * len(texts)


async def test_the_examples_are_taken_in_and_the_archived_one_is_superseded(
    ingest: Ingest, library: Library, tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    outcomes = {Path(one.source).name: one.outcome.value for one in await take(ingest, tmp_path / "examples")}
    assert outcomes.pop("build.py") == "skipped"
    assert set(outcomes.values()) == {"added"}
    documents = {Path(document.source).name: document for document in await library.documents()}
    assert {name for name, document in documents.items() if document.superseded} == {"travel-policy-2022.md"}
    assert {document.loader for document in documents.values()} == {"markdown", "html", "pdf", "docx"}
    assert {name: document.title for name, document in documents.items()} == {
        "leave.md": "Leave",
        "travel.html": "Business travel",
        "expenses.pdf": "Expenses",
        "security.docx": "Information security",
        "travel-policy-2022.md": "Travel policy 2022",
        "trees-and-forests.md": "Decision trees and random forests",
        "support-vector-machines.md": "Support vector machines",
        "convolutional-networks.md": "Convolutional networks",
    }


def rules(count: int) -> Upload:
    text = "".join(f"## Rule {n}\n\nNobody waits longer than {n} days.\n\n" for n in range(count))
    return Upload(filename="rules.md", data=text.encode(), source="F1", title="rules.md")


async def test_so_many_passages_are_read_and_the_rest_is_counted(ingest: Ingest, library: Library) -> None:
    (result,) = [one async for one in ingest.ingest(rules(40), space="T1:C1:1", added_by="U1", kept=False, most=10)]
    assert result.document
    assert (result.document.passages, result.document.left_out, result.document.kept) == (10, 30, False)
    last = (await library.passages(result.document.id))[-1]
    assert last.text == "Nobody waits longer than 9 days."


async def test_what_was_cut_is_read_again_where_it_is_wanted_whole(ingest: Ingest) -> None:
    async def again(most: int | None) -> Ingested:
        (result,) = [one async for one in ingest.ingest(rules(40), space=SPACE, added_by="U1", most=most)]
        return result

    assert (await again(10)).outcome is Outcome.ADDED
    assert (await again(10)).outcome is Outcome.UNCHANGED
    whole = await again(None)
    assert whole.document
    assert (whole.outcome, whole.document.passages, whole.document.left_out) == (Outcome.REPLACED, 40, 0)
    assert (await again(10)).outcome is Outcome.UNCHANGED

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.errors import UseError
from bot.cli.ingest import ingest
from bot.cli.library import list_documents, refresh, remove_document, show_document
from bot.settings import Settings, read
from crag_graph.knowledge.index import OtherEmbeddingError
from tests.fakes.openai_server import EMBEDDING_MODEL, KEY, openai_server


async def ingested(
    settings: Settings, capsys: pytest.CaptureFixture[str], *sources: object, space: str | None = None
) -> tuple[int, list[dict[str, Any]]]:
    capsys.readouterr()
    status = await ingest(settings, [str(source) for source in sources], space=space, as_json=True)
    return status, json.loads(capsys.readouterr().out)


async def listed(settings: Settings, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert await list_documents(settings, space=None, as_json=True) == 0
    documents: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return documents


async def test_a_folder_is_taken_in_once_and_again_only_what_has_changed(
    settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, first = await ingested(settings, capsys, handbook)
    assert status == 0
    assert sorted(result["outcome"] for result in first) == ["added", "added", "skipped"]
    (handbook / "leave.md").write_text("# Leave\n\nEvery parent gets 90 days.\n", "utf-8")
    _, second = await ingested(settings, capsys, handbook)
    assert sorted(result["outcome"] for result in second) == ["replaced", "skipped", "unchanged"]
    assert len(await listed(settings, capsys)) == 2


async def test_a_document_that_fails_says_why_and_the_others_are_in(
    settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (handbook / "broken.docx").write_bytes(b"this is no word document")
    status, results = await ingested(settings, capsys, handbook, handbook / "nothing.md")
    assert status == 1
    failed = {Path(result["source"]).name: result["reason"] for result in results if result["outcome"] == "failed"}
    assert set(failed) == {"broken.docx", "nothing.md"}
    assert all(failed.values())
    assert [result["outcome"] for result in results].count("added") == 2


async def test_private_addresses_are_refused(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    status, results = await ingested(settings, capsys, "http://169.254.169.254/latest/meta-data", "file:///etc/passwd")
    assert status == 1
    assert [result["outcome"] for result in results] == ["failed", "failed"]


async def test_an_older_edition_is_listed_as_one(
    settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for year in (2024, 2025):
        (handbook / f"prices-{year}.md").write_text(f"# Prices {year}\n\nA desk costs {year} crowns.\n", "utf-8")
    await ingested(settings, capsys, handbook)
    assert await list_documents(settings, space=None, as_json=False) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("newer") == 1
    editions = {one["title"]: one["edition"] for one in await listed(settings, capsys)}
    assert editions["Prices 2024"] < editions["Prices 2025"]
    assert editions["Leave"] == ""


async def test_documents_are_shown_and_removed_by_number_or_source(
    settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await ingested(settings, capsys, handbook)
    leave = next(one for one in await listed(settings, capsys) if one["title"] == "Leave")
    await show_document(settings, str(leave["id"]), as_json=True)
    assert "80 days" in json.loads(capsys.readouterr().out)["passages"][0]["text"]
    await show_document(settings, leave["source"], as_json=False)
    assert "80 days" in capsys.readouterr().out
    await remove_document(settings, leave["source"])
    assert [one["title"] for one in await listed(settings, capsys)] == ["travel"]
    for name in (str(leave["id"]), leave["source"], "9" * 40):
        with pytest.raises(UseError, match="no one document"):
            await show_document(settings, name, as_json=True)


async def test_the_same_source_in_two_spaces_is_told_apart_by_number(
    settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await ingested(settings, capsys, handbook / "leave.md")
    await ingested(settings, capsys, handbook / "leave.md", space="T1:C1")
    with pytest.raises(UseError, match="Several spaces"):
        await remove_document(settings, str(handbook / "leave.md"))
    await list_documents(settings, space="T1:C1", as_json=False)
    assert "T1:C1" in capsys.readouterr().out


async def test_a_document_is_read_again_from_where_it_came(
    settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await ingested(settings, capsys, handbook)
    (handbook / "leave.md").write_text("# Leave\n\nEvery parent gets 90 days.\n", "utf-8")
    assert await refresh(settings, str(handbook / "leave.md"), every=False) == 0
    assert "1 replaced" in capsys.readouterr().out
    for name, every in ((None, False), ("x", True)):
        with pytest.raises(UseError, match="Name one document"):
            await refresh(settings, name, every=every)


async def test_another_embedding_model_is_refused_until_everything_is_embedded_again(
    settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await ingested(settings, capsys, handbook)
    async with openai_server() as server:
        assert settings.database_url
        other = read(
            {
                "DATABASE_URL": settings.database_url.get_secret_value(),
                "CRAG_DATA_DIR": str(settings.data_dir),
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_API_KEY": KEY,
                "CRAG_EMBEDDINGS": "openai",
                "CRAG_EMBEDDING_MODEL": EMBEDDING_MODEL,
            },
            None,
        )
        with pytest.raises(OtherEmbeddingError, match="crag library refresh --all"):
            await ingested(other, capsys, handbook)
        assert await refresh(other, None, every=True) == 0
        status, _ = await ingested(other, capsys, handbook)
        assert status == 0
    with pytest.raises(OtherEmbeddingError):
        await ingested(settings, capsys, handbook)

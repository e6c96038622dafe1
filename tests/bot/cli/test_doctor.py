from pathlib import Path

from bot.cli.doctor import Finding, Health, examine
from bot.cli.ingest import ingest
from bot.settings import Settings, read
from tests.fakes.openai_server import CHAT_MODEL, KEY, openai_server
from tests.fakes.tavily_server import KEY as WEB_KEY
from tests.fakes.tavily_server import WebPage, tavily_server

PAGE = WebPage(url="https://pages.example/a", title="A", content="Text.", raw="Text enough to be a page of the web.")


async def findings(settings: Settings) -> dict[str, Finding]:
    return {finding.what: finding async for finding in examine(settings)}


def changed(settings: Settings, **environment: str) -> Settings:
    assert settings.database_url
    url = settings.database_url.get_secret_value()
    return read({"DATABASE_URL": url, "CRAG_DATA_DIR": str(settings.data_dir)} | environment, None)


async def test_without_any_key_nothing_is_broken_and_it_says_what_could_be_set(settings: Settings) -> None:
    found = await findings(settings)
    assert {finding.health for finding in found.values()} == {Health.FINE, Health.LOOK}
    assert found["database"].health is Health.FINE
    assert "pgvector" in found["database"].detail
    assert "crag ingest" in found["library"].advice
    assert "OPENAI_API_KEY" in found["chat model"].advice
    assert "TAVILY_API_KEY" in found["web search"].advice
    assert "SLACK_BOT_TOKEN" in found["Slack"].advice


async def test_what_is_set_up_well_is_fine(settings: Settings, handbook: Path) -> None:
    await ingest(settings, [str(handbook)], space=None, as_json=True)
    async with openai_server({"word": "fine"}) as model, tavily_server([PAGE]) as web:
        keys = {"OPENAI_API_KEY": KEY, "TAVILY_API_KEY": WEB_KEY, "CRAG_CHAT_MODEL": CHAT_MODEL}
        addresses = {"OPENAI_BASE_URL": model.base_url, "CRAG_TAVILY_BASE_URL": web.base_url}
        found = await findings(changed(settings, **keys, **addresses))
    assert {found[what].health for what in ("library", "memory", "chat model", "web search")} == {Health.FINE}


async def test_wrong_keys_and_addresses_are_broken_and_never_printed(settings: Settings) -> None:
    async with openai_server() as model, tavily_server() as web:
        keys = {"OPENAI_API_KEY": "sk-hunter2", "TAVILY_API_KEY": "tvly-hunter2", "CRAG_CHAT_MODEL": CHAT_MODEL}
        addresses = {"OPENAI_BASE_URL": model.base_url, "CRAG_TAVILY_BASE_URL": web.base_url}
        slack = {"SLACK_BOT_TOKEN": "xoxb-hunter2", "SLACK_APP_TOKEN": "xapp-hunter2"}
        away = {"CRAG_SLACK_API_URL": "http://127.0.0.1:1/api/"}
        found = await findings(changed(settings, **keys, **addresses, **slack, **away))
    assert {found[what].health for what in ("chat model", "web search", "Slack")} == {Health.BROKEN}
    assert all(found[what].advice for what in ("chat model", "web search", "Slack"))
    assert "hunter2" not in str(found)


async def test_a_database_that_is_away_is_broken_and_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    away = {"DATABASE_URL": "postgresql://nobody:hunter2@127.0.0.1:1/nothing", "CRAG_DATA_DIR": str(tmp_path)}
    found = await findings(read(away, None))
    assert found["database"].health is Health.BROKEN
    assert "DATABASE_URL" in found["database"].advice
    assert "chat model" in found
    assert "hunter2" not in str(found)


async def test_a_folder_that_cannot_be_made_is_broken(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = await findings(changed(settings, CRAG_DATA_DIR=str(tmp_path / "file" / "data")))
    assert found["data folder"].health is Health.BROKEN
    assert "CRAG_DATA_DIR" in found["data folder"].advice

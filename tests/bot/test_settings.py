from pathlib import Path

import pytest

from bot.settings import SettingsError, read


def test_without_anything_set_everything_is_local() -> None:
    settings = read({}, None)
    assert (settings.has_model, settings.has_slack, settings.web_search, settings.database_url) == (
        False,
        False,
        "off",
        None,
    )
    assert (settings.embeddings, settings.evaluator, settings.memory) == ("local", "local", "sqlite")


@pytest.mark.parametrize(
    ("environment", "names", "says"),
    [
        ({"CRAG_UPPER": "1.7"}, "CRAG_UPPER", "less than or equal to 1"),
        ({"CRAG_TOP_K": "many"}, "CRAG_TOP_K", "integer"),
        ({"CRAG_WEB": "bing"}, "CRAG_WEB", "'tavily', 'searxng' or 'off'"),
        ({"CRAG_WEB": "tavily"}, "CRAG_WEB=tavily", "Set TAVILY_API_KEY"),
        ({"CRAG_WEB": "searxng"}, "CRAG_WEB=searxng", "Set CRAG_SEARXNG_URL"),
        ({"CRAG_LOWER": "0.9"}, "CRAG_LOWER", "above CRAG_UPPER"),
        ({"CRAG_PASSAGE_SIZE": "300", "CRAG_PASSAGE_OVERLAP": "200"}, "CRAG_PASSAGE_OVERLAP", "more than half"),
        ({"CRAG_EVALUATOR": "onnx:"}, "CRAG_EVALUATOR", "onnx:PATH"),
        ({"CRAG_EVALUATOR": "llm"}, "CRAG_EVALUATOR=llm", "Set OPENAI_API_KEY"),
        ({"CRAG_EMBEDDINGS": "openai"}, "CRAG_EMBEDDINGS=openai", "Set OPENAI_API_KEY"),
        ({"OPENAI_BASE_URL": "localhost:8080"}, "OPENAI_BASE_URL", "http or https"),
        ({"DATABASE_URL": "mysql://u:hunter2@h/d"}, "DATABASE_URL", "Postgres"),
        ({"SLACK_BOT_TOKEN": "xoxb-hunter2"}, "SLACK_APP_TOKEN", "socket mode"),
        ({"SLACK_BOT_TOKEN": "xoxb-hunter2", "CRAG_SLACK_MODE": "http"}, "SLACK_SIGNING_SECRET", "HTTP mode"),
        ({"SLACK_CLIENT_ID": "1.2", "CRAG_PUBLIC_URL": "https://b.test"}, "SLACK_CLIENT_SECRET", "is missing"),
        ({"SLACK_CLIENT_SECRET": "hunter2"}, "SLACK_CLIENT_ID", "is missing"),
        ({"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "hunter2"}, "SLACK_CLIENT_ID", "Set CRAG_PUBLIC_URL"),
        ({"CRAG_UPER": "0.7"}, "CRAG_UPER", "Did you mean CRAG_UPPER?"),
        ({"CRAG_ZZZ": "1"}, "CRAG_ZZZ", "crag settings"),
    ],
)
def test_a_wrong_value_gives_one_line_with_the_setting_the_problem_and_the_fix(
    environment: dict[str, str], names: str, says: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read(environment, None)
    line = str(caught.value)
    assert line.startswith(names)
    assert says in line
    assert "\n" not in line
    assert "hunter2" not in line


def test_the_environment_goes_before_the_file_and_an_empty_value_counts_as_unset(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("CRAG_TOP_K=5\nCRAG_UPPER=0.8\nOPENAI_API_KEY=\nHOME=/elsewhere\n")
    settings = read({"CRAG_TOP_K": "6", "CRAG_LOWER": " "}, file)
    assert (settings.top_k, settings.upper, settings.lower, settings.openai_api_key) == (6, 0.8, 0.3, None)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"CRAG_TOP_K=\xff\xfe")
    with pytest.raises(SettingsError, match="not text in UTF-8"):
        read({}, file)


def test_secrets_are_never_printed() -> None:
    settings = read({"OPENAI_API_KEY": "sk-hunter2", "DATABASE_URL": "postgresql://u:hunter2@h/d"}, None)
    assert "hunter2" not in f"{settings!r} {settings} {settings.model_dump()}"


def test_the_fingerprint_changes_with_a_setting_but_not_with_another_key() -> None:
    first = read({"OPENAI_API_KEY": "sk-1"}, None).fingerprint
    assert read({"OPENAI_API_KEY": "sk-2"}, None).fingerprint == first
    assert read({"OPENAI_API_KEY": "sk-1", "CRAG_UPPER": "0.8"}, None).fingerprint != first
    assert read({}, None).fingerprint != first


def test_manners_are_given_by_channel() -> None:
    assert read({"CRAG_LISTEN_IN": "C1=all, C2=mention"}, None).listen_in == {"C1": "all", "C2": "mention"}
    with pytest.raises(SettingsError, match="CRAG_LISTEN_IN"):
        read({"CRAG_LISTEN_IN": "C1"}, None)


def test_lists_are_separated_by_commas_or_spaces() -> None:
    assert read({"CRAG_ADMINS": "U1, U2 U3,"}, None).admins == ("U1", "U2", "U3")


def test_the_web_search_follows_the_key_that_is_set() -> None:
    assert read({"TAVILY_API_KEY": "tvly-1"}, None).web_search == "tavily"
    assert read({"CRAG_SEARXNG_URL": "http://s"}, None).web_search == "searxng"
    assert read({"TAVILY_API_KEY": "tvly-1", "CRAG_WEB": "off"}, None).web_search == "off"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "CRAG_SLACK_INSTALL=oauth needs no SLACK_BOT_TOKEN"),
        ({"CRAG_SLACK_MODE": "socket"}, "CRAG_SLACK_INSTALL=oauth needs HTTP mode"),
        ({"SLACK_SIGNING_SECRET": ""}, "Set SLACK_SIGNING_SECRET"),
        ({"SLACK_CLIENT_ID": "", "SLACK_CLIENT_SECRET": ""}, "Set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET"),
        ({"SLACK_CLIENT_SECRET": ""}, "SLACK_CLIENT_SECRET is missing"),
        ({"CRAG_PUBLIC_URL": ""}, "Set CRAG_PUBLIC_URL"),
    ],
)
def test_what_installing_by_oauth_lacks_is_named(changed: dict[str, str], problem: str) -> None:
    good = {
        "CRAG_SLACK_INSTALL": "oauth",
        "CRAG_SLACK_MODE": "http",
        "SLACK_SIGNING_SECRET": "s",
        "SLACK_CLIENT_ID": "1.2",
        "SLACK_CLIENT_SECRET": "c",
        "CRAG_PUBLIC_URL": "https://crag.example.com",
    }
    assert read(good, None).has_slack
    with pytest.raises(SettingsError, match=problem):
        read(good | changed, None)

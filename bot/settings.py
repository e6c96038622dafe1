"""The one reader of the environment and of the `.env` file; everybody else is handed plain values."""

import difflib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic import model_validator as check_together
from pydantic_core import ErrorDetails, PydanticCustomError

from bot.setting_values import (
    Address,
    BudgetOfADay,
    Choices,
    EvaluatorName,
    Limits,
    Lower,
    PostgresAddress,
    Prices,
    Share,
    Words,
)

PREFIX = "CRAG_"


class SettingsError(Exception):
    """A setting is wrong; the message is one line that names it, its problem and the fix."""


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _field(default: Any, meaning: str, *, example: str = "", name: str | None = None) -> Any:
    """A setting. `name`: its environment variable where that is a standard one, else CRAG_ and the field's name."""
    shown = example or _plain(default)
    return Field(default, description=meaning, validation_alias=name, json_schema_extra={"example": shown})


class Settings(BaseModel):
    """Every setting of an installation, with its default."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        hide_input_in_errors=True,
        alias_generator=lambda field: f"{PREFIX}{field.upper()}",
    )

    data_dir: Path = _field(Path("data"), "Folder of everything that is kept on this machine.")
    database_url: PostgresAddress | None = _field(
        None,
        "Postgres 16 or newer with pgvector; without it an embedded Postgres runs in the data folder.",
        example="postgresql://crag:PASSWORD@db:5432/crag",
        name="DATABASE_URL",
    )

    openai_api_key: SecretStr | None = _field(
        None, "Key of the chat model's server.", example="sk-…", name="OPENAI_API_KEY"
    )
    openai_base_url: Address | None = _field(
        None,
        "Any server that speaks OpenAI's protocol. Without this and the key, answers are quoted from the sources.",
        example="http://localhost:8080/v1",
        name="OPENAI_BASE_URL",
    )
    chat_model: str = _field("gpt-4.1-mini", "Chat model that rewrites questions and writes answers.")
    embeddings: Literal["local", "openai"] = _field("local", "Who embeds: the built-in model, or OpenAI's protocol.")
    embedding_model: str = _field("text-embedding-3-small", "Embedding model where `CRAG_EMBEDDINGS=openai`.")

    evaluator: EvaluatorName = _field(
        "local", "Who judges passages: `local`, `llm` (the chat model), or `onnx:PATH` (a model of your own)."
    )
    verdict: Literal["parts", "rule"] = _field(
        "parts", "Judge each part of a question, or the whole by the paper's `rule`."
    )
    upper: Share = _field(
        0.7, "A passage with at least this score is enough to answer; unset, what `crag calibrate` fitted counts."
    )
    lower: Share = _field(0.3, "A passage below this score is dropped.")
    top_k: Annotated[int, Field(ge=1, le=100)] = _field(8, "Passages retrieved for a question.")
    passage_size: Annotated[int, Field(ge=200, le=4000)] = _field(900, "Characters of a passage, at ingest.")
    passage_overlap: Annotated[int, Field(ge=0, le=2000)] = _field(
        150, "Characters that a passage repeats of the one before it."
    )
    context_characters: Annotated[int, Field(ge=1000, le=400_000)] = _field(
        12_000, "Characters of all strips that go to the writer."
    )
    deadline: Annotated[float, Field(ge=1, le=600)] = _field(
        60.0, "Seconds for a question; what is known then is delivered."
    )

    web: Literal["tavily", "searxng", "off"] | None = _field(
        None, "Web search; unset: the one whose key or address is set, else off.", example="tavily"
    )
    web_pages: Annotated[int, Field(ge=1, le=20)] = _field(5, "Pages read for one web search.")
    tavily_api_key: SecretStr | None = _field(None, "Key of Tavily.", example="tvly-…", name="TAVILY_API_KEY")
    tavily_base_url: Address | None = _field(
        None, "Another address of Tavily's protocol.", example="https://api.tavily.com"
    )
    searxng_url: Address | None = _field(
        None, "A SearXNG server with JSON output switched on.", example="http://localhost:8888"
    )
    fetch_allow: Words = _field(
        (), "Hosts of your own that ingest may fetch from, though they are private.", example="wiki.corp,10.1.0.5"
    )

    memory: Literal["sqlite", "postgres"] = _field(
        "sqlite", "Where conversations are remembered; several processes need `postgres`."
    )
    memory_tokens: Annotated[int, Field(ge=200, le=200_000)] = _field(
        3000, "Tokens of remembered turns; older ones become a summary."
    )
    retention_days: Annotated[int, Field(ge=0)] = _field(
        0, "Days that texts are kept (conversations, traces, notes), figures stay; 0 keeps them."
    )
    expert_review_days: Annotated[int, Field(ge=0)] = _field(
        180, "Days after which somebody is asked whether an expert's answer is still right; 0: nobody is."
    )
    trace_text: bool = _field(False, "Keep the models' prompts and replies in the traces.")

    slack_bot_token: SecretStr | None = _field(None, "Bot token of the app.", example="xoxb-…", name="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr | None = _field(
        None, "App token, for socket mode.", example="xapp-…", name="SLACK_APP_TOKEN"
    )
    slack_signing_secret: SecretStr | None = _field(
        None, "Signing secret, for HTTP mode.", example="8f742231b10e8888…", name="SLACK_SIGNING_SECRET"
    )
    slack_client_id: str | None = _field(
        None,
        "Client id of the app, for “Sign in with Slack” on the review pages, and to install it by `oauth`.",
        example="0123456789.0123456789012",
        name="SLACK_CLIENT_ID",
    )
    slack_client_secret: SecretStr | None = _field(
        None, "Client secret of the app, with `SLACK_CLIENT_ID`.", example="4b39e9752c4…", name="SLACK_CLIENT_SECRET"
    )
    slack_install: Literal["token", "oauth"] = _field(
        "token", "One team, by its bot token; or by `oauth` every team that installs the app, in HTTP mode."
    )
    slack_mode: Literal["socket", "http"] = _field("socket", "How Slack reaches the bot.")
    slack_api_url: Address = _field("https://slack.com/api/", "Address of Slack's Web API.")
    listen: Literal["mention", "thread", "all"] = _field(
        "thread", "In channels, answer to a `mention`, also to replies in a `thread` where it answered, or to `all`."
    )
    listen_in: Choices = _field({}, "Other manners by channel id.", example="C012AB3CD=all,C045EF6GH=mention")
    bot_channels: Words = _field((), "Ids of channels where other bots may ask, too.", example="C012AB3CD")
    limits: Limits = _field(
        {},
        "Questions an hour by `person`, `channel` and `team`; unset: any.",
        example="person=30,channel=200,team=1000",
    )
    budget: BudgetOfADay = _field(
        {},
        "Tokens or dollars for models in a day and team; then answers are quoted. Admins hear of it at 80 %.",
        example="tokens=500000,dollars=5",
    )
    settings_by: Literal["members", "admins"] = _field("members", "Who may change a channel's settings at first.")
    admins: Words = _field(
        (), "Slack user ids of the admins; `TEAM:USER` counts in that team alone.", example="U012AB3CD,T01:U045EF6GH"
    )
    workspace_admins: bool = _field(False, "Admins of the Slack workspace may review traces, too.")

    host: str = _field("127.0.0.1", "Address that `crag serve` listens on.")
    port: Annotated[int, Field(ge=0, le=65535)] = _field(8080, "Port that `crag serve` listens on.")
    public_url: Address | None = _field(
        None, "Where browsers reach `crag serve`; unset: its host and port.", example="https://crag.example.com"
    )
    prices: Prices = _field(
        {},
        "Dollars per million tokens of prompts and replies, by chat model, for the costs on the review pages.",
        example="gpt-4.1-mini=0.40/1.60",
    )
    workers: Annotated[int, Field(ge=1, le=256)] = _field(8, "Questions answered at once by one process.")

    metrics_port: Annotated[int, Field(ge=1, le=65535)] | None = _field(
        None, "Port where each process tells its numbers at `/metrics`, for Prometheus; unset: nowhere.", example="9464"
    )
    otlp_endpoint: Address | None = _field(
        None,
        "Collector that gets OpenTelemetry spans, by OTLP over HTTP; the SDK's other `OTEL_…` variables count, too.",
        example="http://localhost:4318",
        name="OTEL_EXPORTER_OTLP_ENDPOINT",
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Lower] = _field("info", "How much is logged.")
    log_text: bool = _field(False, "Allow message texts in the log, for debugging.")

    @check_together(mode="after")
    def _agree(self) -> Self:
        for wrong, name, problem in self._disagreements():
            if wrong:
                raise PydanticCustomError("together", "{line}", {"line": f"{name} {problem}"})
        return self

    def _disagreements(self) -> tuple[tuple[bool, str, str], ...]:
        model = self.openai_api_key or self.openai_base_url
        needs_model = "needs a model server. Set OPENAI_API_KEY or OPENAI_BASE_URL, or choose local."
        slack, socket = self.slack_bot_token, self.slack_mode == "socket"
        oauth, by_oauth = self.slack_install == "oauth", "CRAG_SLACK_INSTALL=oauth"
        client, secret = self.slack_client_id, self.slack_client_secret
        return (
            (
                self.lower > self.upper,
                "CRAG_LOWER",
                f"({self.lower}) is above CRAG_UPPER ({self.upper}). Lower it, or raise the other.",
            ),
            (
                self.passage_overlap * 2 > self.passage_size,
                "CRAG_PASSAGE_OVERLAP",
                f"is more than half of CRAG_PASSAGE_SIZE ({self.passage_size}). Lower it.",
            ),
            (self.embeddings == "openai" and not model, "CRAG_EMBEDDINGS=openai", needs_model),
            (self.evaluator == "llm" and not model, "CRAG_EVALUATOR=llm", needs_model),
            (
                self.web == "tavily" and not self.tavily_api_key,
                "CRAG_WEB=tavily",
                "needs a key. Set TAVILY_API_KEY, or CRAG_WEB=off.",
            ),
            (
                self.web == "searxng" and not self.searxng_url,
                "CRAG_WEB=searxng",
                "needs a server. Set CRAG_SEARXNG_URL, or CRAG_WEB=off.",
            ),
            (
                bool(slack and socket and not self.slack_app_token),
                "SLACK_APP_TOKEN",
                "is missing, and socket mode needs it. Set it, or CRAG_SLACK_MODE=http.",
            ),
            (
                bool(slack and not socket and not self.slack_signing_secret),
                "SLACK_SIGNING_SECRET",
                "is missing, and HTTP mode needs it. Set it, or CRAG_SLACK_MODE=socket.",
            ),
            (oauth and bool(slack), by_oauth, "needs no SLACK_BOT_TOKEN: each team has its own. Unset it."),
            (oauth and socket, by_oauth, "needs HTTP mode. Set CRAG_SLACK_MODE=http and SLACK_SIGNING_SECRET."),
            (oauth and not self.slack_signing_secret, by_oauth, "needs HTTP mode. Set SLACK_SIGNING_SECRET, too."),
            (oauth and not (client or secret), by_oauth, "needs the app. Set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET."),
            (bool(client and not secret), "SLACK_CLIENT_SECRET", "is missing. Set it, or unset SLACK_CLIENT_ID."),
            (bool(secret and not client), "SLACK_CLIENT_ID", "is missing. Set it, or unset SLACK_CLIENT_SECRET."),
            (
                bool(client and not self.public_url),
                "SLACK_CLIENT_ID",
                "needs an address that Slack sends browsers back to. Set CRAG_PUBLIC_URL.",
            ),
        )

    @property
    def address(self) -> str:
        """Where browsers reach the web server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def has_model(self) -> bool:
        """A chat model is set up."""
        return bool(self.openai_api_key or self.openai_base_url)

    @property
    def has_slack(self) -> bool:
        return self.slack_bot_token is not None or self.slack_install == "oauth"

    @property
    def web_search(self) -> Literal["tavily", "searxng", "off"]:
        """The web search in use."""
        if self.web is not None:
            return self.web
        if self.tavily_api_key:
            return "tavily"
        return "searxng" if self.searxng_url else "off"

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change with any setting; of a secret it counts only that there is one."""
        plain = {name: "secret" if isinstance(value, SecretStr) else str(value) for name, value in self}
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:12]


def _variable(field: str) -> str:
    """The environment variable of a field."""
    alias = Settings.model_fields[field].validation_alias
    return cast("str", alias) if alias else f"{PREFIX}{field.upper()}"


def names() -> tuple[str, ...]:
    """Every environment variable that is read, in the order of the table."""
    return tuple(_variable(field) for field in Settings.model_fields)


def read(environment: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Settings:
    """The settings: the environment before the `.env` file, an empty value counts as unset. Raises SettingsError."""
    found = {**_written(env_file), **(os.environ if environment is None else environment)}
    _refuse_unknown(found)
    known = set(names())
    try:
        given = {name: value.strip() for name, value in found.items() if value and value.strip() and name in known}
        return Settings.model_validate(given)
    except ValidationError as error:
        raise SettingsError(_line(error.errors(include_url=False)[0])) from None


def bare_environment() -> dict[str, str]:
    """The environment without any setting, for a process that is to begin with the defaults."""
    known = set(names())
    return {name: value for name, value in os.environ.items() if name not in known and not name.startswith(PREFIX)}


def _written(env_file: Path | None) -> Mapping[str, str | None]:
    if env_file is None or not env_file.is_file():
        return {}
    try:
        return dotenv_values(env_file, interpolate=False)
    except UnicodeDecodeError:
        raise SettingsError(f"{env_file} is not text in UTF-8. Save it as UTF-8.") from None
    except OSError as error:
        raise SettingsError(f"{env_file} cannot be read: {error.strerror}. Make it readable, or remove it.") from None


def _refuse_unknown(found: Mapping[str, str | None]) -> None:
    for name in found:
        if name.startswith(PREFIX) and name not in names():
            near = difflib.get_close_matches(name, names(), n=1, cutoff=0.75)
            advice = f"Did you mean {near[0]}?" if near else "`crag settings` lists them all."
            raise SettingsError(f"{name} is not a setting. {advice}")


def _line(error: ErrorDetails) -> str:
    """One line: the setting, the problem, the fix. The value itself is never shown: it may be a secret."""
    if error["type"] == "together":
        return error["msg"]
    variable = str(error["loc"][0])
    field = next(name for name in Settings.model_fields if variable in {name, _variable(name)})
    problem = error["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{variable} {problem[0].lower()}{problem[1:]}. Write for example {variable}={_example(field)}"


def _example(field: str) -> str:
    extra = Settings.model_fields[field].json_schema_extra
    return str(extra["example"]) if isinstance(extra, dict) else ""


def table() -> str:
    """The settings as a table in Markdown."""
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, (), {}) else f"`{_plain(field.default)}`"
        rows.append(f"| `{_variable(name)}` | {default} | {field.description} |")
    return "\n".join(rows)


def example_file() -> str:
    """A `.env` file with every setting, each commented out, with its default or an example."""
    parts = ["# Copy this file to .env and take the # away from what you set. `crag settings` shows what is in force."]
    for name, field in Settings.model_fields.items():
        parts.append(f"# {field.description}\n# {_variable(name)}={_example(name)}")
    return "\n\n".join(parts) + "\n"

"""The one composition root: from settings to everything that runs, opened here and closed here."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine
from threadpoolctl import threadpool_limits

from bot.answering import Answering
from bot.budget.budget import Budget
from bot.database.embedded import EmbeddedServer
from bot.database.engine import MEMORY_SCHEMA, open_engine, with_schema
from bot.database.migrate import migrate
from bot.erasing.eraser import Eraser
from bot.experts.answers import Experts
from bot.memory import Memory, open_postgres, open_sqlite
from bot.prices import Price
from bot.settings import Settings, SettingsError
from bot.telemetry.finished import Watch
from bot.telemetry.metrics import Meter
from bot.traces.recorder import Recorder
from crag_graph.chat import ChatModel
from crag_graph.context import Policy
from crag_graph.embedding import Embedder
from crag_graph.evaluators.calibration import CalibrationError, Fit, load_fit
from crag_graph.evaluators.llm import LlmEvaluator
from crag_graph.evaluators.local import LocalEvaluator
from crag_graph.evaluators.onnx import CALIBRATION, OnnxEvaluator, ScorerError
from crag_graph.evaluators.prepared import Preparer
from crag_graph.knowledge.attached import Attached
from crag_graph.knowledge.fetch import Fetcher
from crag_graph.knowledge.index import change_model, prepare_index
from crag_graph.knowledge.ingest import Ingest
from crag_graph.knowledge.library import Library
from crag_graph.knowledge.search import HybridSearch
from crag_graph.models.chat_api import ApiWriter
from crag_graph.models.chat_extractive import ExtractiveWriter
from crag_graph.models.embed_local import LocalEmbedder
from crag_graph.services import Evaluator, Services, WebSearch, Writer
from crag_graph.verdict import Thresholds
from crag_graph.websearch.none import NoWeb
from crag_graph.websearch.searxng import SearxngSearch
from crag_graph.websearch.tavily import TavilySearch

OPENAI = "https://api.openai.com/v1"
SQLITE = "memory.sqlite"
NO_KEY = "none"
"""For servers that ask for no key: the client insists on one."""
CONNECTIONS = 4
"""Connections to the database beyond one for each question that is answered at once."""
ARITHMETIC_THREADS = 1
"""The evaluator's matrices are small: on busy cores, OpenBLAS's threads wait for each other thirty times as long."""


@dataclass(frozen=True, kw_only=True)
class Database:
    """Postgres, running and up to date."""

    url: str
    engine: AsyncEngine


@dataclass(frozen=True, kw_only=True)
class Product:
    """Everything that runs, put together."""

    settings: Settings
    database: Database
    memory: Memory
    library: Library
    ingest: Ingest
    services: Services
    recorder: Recorder
    answering: Answering
    experts: Experts
    budget: Budget | None
    eraser: Eraser


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database that is set, or the embedded one; brought up to date. Raises DatabaseError."""
    async with AsyncExitStack() as stack:
        if settings.database_url:
            url = settings.database_url.get_secret_value()
        else:
            url = await stack.enter_async_context(_embedded(settings))
        await migrate(url)
        engine = open_engine(url, pool_size=settings.workers + CONNECTIONS)
        stack.push_async_callback(engine.dispose)
        yield Database(url=url, engine=engine)


@asynccontextmanager
async def open_memory(settings: Settings, database: Database) -> AsyncIterator[Memory]:
    """The conversations' memory."""
    locks = settings.data_dir / "locks"
    if settings.memory == "postgres":
        address = with_schema(database.url, MEMORY_SCHEMA)
        async with open_postgres(address, locks=locks, connections=settings.workers) as shared:
            yield shared
    else:
        async with open_sqlite(settings.data_dir / SQLITE, locks=locks) as file:
            yield file


@asynccontextmanager
async def _eraser(settings: Settings, database: Database, memory: Memory, experts: Experts) -> AsyncIterator[Eraser]:
    """Also of what is left in the file, where conversations are now remembered in Postgres."""
    async with AsyncExitStack() as stack:
        memories, file = [memory], settings.data_dir / SQLITE
        if settings.memory == "postgres" and file.exists():
            memories.append(await stack.enter_async_context(open_sqlite(file, locks=settings.data_dir / "locks")))
        yield Eraser(database.engine, memories, disown=experts.disown)


@asynccontextmanager
async def open_library(settings: Settings) -> AsyncIterator[Library]:
    """The library without any model: to look into it and to remove from it."""
    async with open_database(settings) as database:
        yield Library(database.engine, model="")


@asynccontextmanager
async def open_product(settings: Settings, *, new_model: bool = False) -> AsyncIterator[Product]:
    """Everything.

    Raises DatabaseError, or a ServiceError where a model cannot be used with this library; `new_model` makes the
    library one of the embedding model that is set, and its passages are then to be embedded again.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(threadpool_limits(limits=ARITHMETIC_THREADS, user_api="blas"))
        loading = asyncio.create_task(local_embedder())  # while Postgres starts
        database = await stack.enter_async_context(open_database(settings))
        memory = await stack.enter_async_context(open_memory(settings, database))
        local = await loading
        chosen = await embedder(settings, local, stack)
        settle = change_model if new_model else prepare_index
        await settle(database.engine, model=chosen.name, dimensions=chosen.dimensions)
        library = Library(database.engine, model=chosen.name)
        services = _services(settings, database, local, chosen, stack)
        recorder = make_recorder(settings, database)
        ingest = _ingest(settings, library, chosen, local)
        budget = make_budget(settings, database)
        experts = _experts(settings, database, ingest)
        yield Product(
            settings=settings,
            database=database,
            memory=memory,
            library=library,
            ingest=ingest,
            services=services,
            recorder=recorder,
            answering=Answering(
                services=services,
                policy=policy(settings),
                memory=memory,
                recorder=recorder,
                watches=[Meter(price_table(settings)), *await _spans(settings, stack)],
                frugal=_frugal(settings, services),
                budget=budget,
                attached=Attached(engine=database.engine),
            ),
            experts=experts,
            budget=budget,
            eraser=await stack.enter_async_context(_eraser(settings, database, memory, experts)),
        )


def fit_file(settings: Settings) -> Path | None:
    """Where what was fitted to the evaluator that is set is kept; None for one that nothing can be fitted to."""
    if settings.evaluator == "llm":
        return None
    if settings.evaluator == "local":
        return settings.data_dir / CALIBRATION
    model = Path(settings.evaluator.removeprefix("onnx:"))
    return (model if model.is_dir() else model.parent) / CALIBRATION


def thresholds(settings: Settings) -> Thresholds:
    """Those that are set; where neither is, those that were fitted. Raises SettingsError."""
    file = fit_file(settings)
    by_hand = {"upper", "lower"} & settings.model_fields_set
    fitted = _fit(file).thresholds if file and not by_hand else None
    return fitted or Thresholds(upper=settings.upper, lower=settings.lower)


def policy(settings: Settings) -> Policy:
    """The rules of the installation."""
    return Policy(
        thresholds=thresholds(settings),
        by_parts=settings.verdict == "parts",
        top_k=settings.top_k,
        web_pages=settings.web_pages,
        context_characters=settings.context_characters,
        memory_tokens=settings.memory_tokens,
        deadline=settings.deadline,
    )


def make_budget(settings: Settings, database: Database) -> Budget | None:
    """None where nothing bounds what a team spends."""
    if not settings.budget:
        return None
    return Budget(
        engine=database.engine,
        tokens=settings.budget.get("tokens", 0.0),
        dollars=settings.budget.get("dollars", 0.0),
        prices=price_table(settings),
    )


def _frugal(settings: Settings, services: Services) -> Services | None:
    """The same without a chat model; None where there is none to save."""
    if services.spare_writer is None:
        return None
    judging = (services.spare_evaluator or services.evaluator) if settings.evaluator == "llm" else services.evaluator
    return replace(services, writer=services.spare_writer, spare_writer=None, evaluator=judging, spare_evaluator=None)


def price_table(settings: Settings) -> dict[str, Price]:
    """What the chat models cost."""
    return {model: Price(prompt=price[0], completion=price[1]) for model, price in settings.prices.items()}


async def _spans(settings: Settings, stack: AsyncExitStack) -> list[Watch]:
    if settings.otlp_endpoint is None:
        return []
    from bot.telemetry.spans import open_spans  # noqa: PLC0415 - the SDK takes a while to import

    return [await stack.enter_async_context(open_spans(settings.otlp_endpoint, version=version("crag")))]


def make_recorder(settings: Settings, database: Database) -> Recorder:
    return Recorder(
        database.engine, keep_texts=settings.trace_text, settings=settings.fingerprint, version=version("crag")
    )


async def local_embedder() -> LocalEmbedder:
    """Loading takes a moment of computing."""
    return await asyncio.to_thread(LocalEmbedder)


async def embedder(settings: Settings, local: LocalEmbedder, stack: AsyncExitStack) -> Embedder:
    """Who embeds for search. Raises a ServiceError where the API does not tell its dimensions."""
    if settings.embeddings == "local":
        return local
    from crag_graph.models.embed_api import ApiEmbedder  # noqa: PLC0415 - openai takes long to import

    api = ApiEmbedder(base_url=_base_url(settings), api_key=_key(settings), model=settings.embedding_model)
    stack.push_async_callback(api.close)
    await api.discover()
    return api


def chat_model(settings: Settings, stack: AsyncExitStack) -> ChatModel | None:
    """None where no model is set up."""
    if not settings.has_model:
        return None
    from crag_graph.models.chat_client import ApiChat  # noqa: PLC0415 - openai takes long to import

    chat = ApiChat(base_url=_base_url(settings), api_key=_key(settings), model=settings.chat_model)
    stack.push_async_callback(chat.close)
    return chat


def web_search(settings: Settings, stack: AsyncExitStack) -> WebSearch:
    match settings.web_search, settings.tavily_api_key, settings.searxng_url:
        case "tavily", key, _ if key:
            tavily = TavilySearch(key.get_secret_value(), base_url=settings.tavily_base_url)
            stack.push_async_callback(tavily.close)
            return tavily
        case "searxng", _, str(url):
            searxng = SearxngSearch(url)
            stack.push_async_callback(searxng.close)
            return searxng
        case _:
            return NoWeb()


def _services(
    settings: Settings, database: Database, local: LocalEmbedder, chosen: Embedder, stack: AsyncExitStack
) -> Services:
    chat = chat_model(settings, stack)
    own, spare = _evaluators(settings, local, chat)
    quoting: Writer = ExtractiveWriter()
    return Services(
        library=HybridSearch(database.engine, chosen, features_version=Preparer.version),
        evaluator=own,
        spare_evaluator=spare,
        writer=ApiWriter(chat) if chat else quoting,
        spare_writer=quoting if chat else None,
        web=web_search(settings, stack),
    )


def _evaluators(settings: Settings, local: LocalEmbedder, chat: ChatModel | None) -> tuple[Evaluator, Evaluator | None]:
    """The one that is set, and the local one as its spare."""
    spare = LocalEvaluator(local, calibration=_fit(settings.data_dir / CALIBRATION).calibration)
    if settings.evaluator == "llm" and chat:
        return LlmEvaluator(chat), spare
    if settings.evaluator.startswith("onnx:"):
        return _onnx(settings.evaluator.removeprefix("onnx:")), spare
    return spare, None


def _fit(file: Path) -> Fit:
    try:
        return load_fit(file)
    except CalibrationError as error:
        raise SettingsError(f"{error} Move it away, or take it back with `crag calibrate --undo`.") from error


def _onnx(path: str) -> OnnxEvaluator:
    try:
        return OnnxEvaluator(path)
    except (ScorerError, CalibrationError) as error:
        raise SettingsError(f"CRAG_EVALUATOR=onnx:{path} cannot be used. {error}") from error


def _ingest(settings: Settings, library: Library, chosen: Embedder, local: LocalEmbedder) -> Ingest:
    return Ingest(
        library=library,
        embedder=chosen,
        featurizer=Preparer(local),
        fetcher=Fetcher(allowed_hosts=settings.fetch_allow),
        size=settings.passage_size,
        overlap=settings.passage_overlap,
    )


def _experts(settings: Settings, database: Database, ingest: Ingest) -> Experts:
    days = settings.expert_review_days
    return Experts(engine=database.engine, ingest=ingest, review_after=timedelta(days=days) if days else None)


@asynccontextmanager
async def _embedded(settings: Settings) -> AsyncIterator[str]:
    """The address of the Postgres in the data folder, which is watched as long as we need it."""
    server = await asyncio.to_thread(EmbeddedServer, settings.data_dir)
    watch = asyncio.create_task(server.keep_running())
    try:
        yield server.url()
    finally:
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch
        await asyncio.to_thread(server.leave)


def _base_url(settings: Settings) -> str:
    return settings.openai_base_url or OPENAI


def _key(settings: Settings) -> str:
    return settings.openai_api_key.get_secret_value() if settings.openai_api_key else NO_KEY

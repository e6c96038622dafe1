"""An installation with a library and people's questions, all answered by real runs, for a browser to look at."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import update

from bot.admin.admins import Admins
from bot.admin.application import mount
from bot.admin.desk import Desk
from bot.admin.links import Links
from bot.answering import Question
from bot.database.engine import JOBS_SCHEMA, with_schema
from bot.jobs import Kind, open_queue
from bot.prices import Price
from bot.server import build
from bot.settings import Settings
from bot.traces.feedback import give_feedback
from bot.traces.tables import runs
from bot.wiring import Product, open_product
from crag_graph.domain import Progress
from tests.browser.chromium import serving
from tests.fakes.openai_server import CHAT_MODEL, openai_server
from tests.fakes.serving import PAGES, in_short
from tests.fakes.tavily_server import tavily_server

ROOT = Path(__file__).resolve().parents[2]
TEAM, ADMIN = "T1", "U1"
NAMES = {
    "U1": "Ada",
    "U2": "Ben",
    "U3": "Chidi",
    "U4": "Dolores <script>",
    "C1": "people-ops",
    "C2": "engineering",
    "C3": "random",
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question, where and by whom it was asked, how many days ago, and what the asker thought of the answer."""

    text: str
    channel: str = "C1"
    asker: str = "U2"
    thread: str = ""
    days: int = 0
    helpful: bool | None = None


DIALOGUE: Sequence[Asked] = (
    Asked(text="How many days of parental leave do I get?", thread="leave", days=6, helpful=True),
    Asked(text="And for adoption?", thread="leave", days=6),
    Asked(text="What is gradient descent?", channel="C2", asker="U3", days=5, helpful=True),
    Asked(text="How does batch normalisation compare with layer normalisation?", channel="C2", asker="U3", days=4),
    Asked(text="What is a Transformer architecture in deep learning?", channel="C2", days=4, helpful=True),
    Asked(text="Who do I call when the coffee machine leaks?", channel="C3", asker="U4", days=3),
    Asked(text="Whom do I call if the coffee machine is leaking?", channel="C3", asker="U3", days=2),
    Asked(text="<script>alert('question')</script> How do I book a flight?", asker="U4", days=2),
    Asked(text="How many days of vacation do I have?", asker="U3", days=1, helpful=False),
    Asked(text="What did the parliament of Atlantis decide in 1820?", channel="C3", days=1),
    Asked(text="How many days of sick leave are paid?", asker="U4"),
)


@dataclass(frozen=True, kw_only=True)
class Running:
    """`address`: where the pages are."""

    product: Product
    desk: Desk
    address: str

    async def link(self, *, team: str = TEAM, person: str = ADMIN) -> str:
        link = await self.desk.links.make_for(team, person)
        assert link
        return link

    async def ask(self, asked: Asked) -> str:
        """The trace of a question that is really answered."""
        question = Question(
            text=asked.text,
            conversation=f"{TEAM}:{asked.channel}:{asked.thread or asked.text[-40:]}",
            spaces=("workspace", f"{TEAM}:{asked.channel}"),
            team=TEAM,
            channel=asked.channel,
            asker=asked.asker,
            permalink=f"https://acme.slack.test/archives/{asked.channel}/p1",
        )
        trace = (await self.product.answering.answer(question, _quietly)).trace_id
        engine = self.product.database.engine
        async with engine.begin() as connection:
            when = datetime.now(UTC) - timedelta(days=asked.days)
            await connection.execute(update(runs).where(runs.c.id == trace).values(started_at=when))
        if asked.helpful is not None:
            await give_feedback(engine, team=TEAM, trace=trace, person=asked.asker, helpful=asked.helpful)
        return trace


@asynccontextmanager
async def running(data: Path, database_url: str | None, *, port: int) -> AsyncIterator[Running]:
    """The product with a scripted chat model and web, and the examples in its library."""
    async with AsyncExitStack() as stack:
        chat = await stack.enter_async_context(openai_server(in_short))
        web = await stack.enter_async_context(tavily_server(PAGES))
        settings = Settings(
            data_dir=data,
            database_url=SecretStr(database_url) if database_url else None,
            openai_base_url=chat.base_url,
            chat_model=CHAT_MODEL,
            openai_api_key=SecretStr(chat.key or ""),
            tavily_api_key=SecretStr(web.key),
            tavily_base_url=web.base_url,
            trace_text=True,
        )
        product = await stack.enter_async_context(open_product(settings))
        desk = make_desk(product, address=f"http://127.0.0.1:{port}")
        await stack.enter_async_context(serving(build(product.database.engine, [mount(desk)]), port))
        yield Running(product=product, desk=desk, address=desk.links.address)


def make_desk(product: Product, *, address: str) -> Desk:
    admins = Admins(named=frozenset({ADMIN}))

    async def names(team: object, people: object, channels: object) -> dict[str, str]:
        return NAMES

    return Desk(
        engine=product.database.engine,
        admins=admins,
        links=Links(product.database.engine, admins, address=address),
        answering=product.answering,
        embedder=product.ingest.embedder,
        ingest=product.ingest,
        experts=product.experts,
        names=names,
        prices={CHAT_MODEL: Price(prompt=0.4, completion=1.6)},
        texts=True,
    )


async def fill(
    installation: Running, *, library: Path = ROOT / "examples", asked: Sequence[Asked] = DIALOGUE
) -> list[str]:
    """Documents, questions, jobs, and a document that cannot be read; the traces of the questions."""
    product = installation.product
    for source, space in ((library, "workspace"), (ROOT / "tests" / "documents", f"{TEAM}:C3")):
        async for _ in product.ingest.ingest(source, space=space, added_by="U2"):
            pass
    broken = installation.product.settings.data_dir / "scanned.pdf"
    broken.write_bytes(b"%PDF-1.4 nothing")
    async for _ in product.ingest.ingest(broken, space="workspace", added_by="U3"):
        pass
    async with open_queue(with_schema(product.database.url, JOBS_SCHEMA)) as queue:
        await queue.put(Kind.ANSWER, f"{TEAM}:C1:1700000000.000100")
        await queue.put(Kind.INGEST, f"ingest:{TEAM}:C2:https://intranet.example/handbook")
    return [await installation.ask(one) for one in asked]


async def _quietly(_progress: Progress) -> None:
    """Nobody waits."""

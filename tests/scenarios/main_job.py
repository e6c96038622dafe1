"""The product as somebody sets it up, with the examples taken in: without any key, or with every API that there is."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.answering import Answered, Question
from bot.settings import read
from bot.wiring import Product, open_product
from crag_graph.domain import Kind, Progress
from tests.fakes.openai_server import CHAT_MODEL, EMBEDDING_MODEL, OpenAIServer, openai_server
from tests.fakes.openai_server import KEY as MODEL_KEY
from tests.fakes.scripted_chat import scripted_chat
from tests.fakes.serving import PAGES
from tests.fakes.tavily_server import KEY as WEB_KEY
from tests.fakes.tavily_server import TavilyServer, tavily_server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SPACE = "workspace"


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A product, and the servers that stand for the outside."""

    product: Product
    web: TavilyServer
    model: OpenAIServer

    async def ask(
        self, text: str, *, conversation: str = "", spaces: Sequence[str] = (SPACE,), web: bool = True
    ) -> Answered:
        question = Question(
            text=text,
            conversation=f"local:test:{conversation}",
            spaces=tuple(spaces),
            web_allowed=web,
            history=None if conversation else (),
        )
        return await self.product.answering.answer(question, _quietly)


async def _quietly(_progress: Progress) -> None:
    """Nobody watches."""


@asynccontextmanager
async def set_up(twins: str, database_url: str, folder: Path) -> AsyncIterator[Setup]:
    """`twins`: "local", or "api" for chat, embeddings and evaluator behind OpenAI's protocol. The web is there."""
    async with openai_server(scripted_chat) as model, tavily_server(PAGES) as web:
        environment = {
            "CRAG_DATA_DIR": str(folder),
            "DATABASE_URL": database_url,
            "TAVILY_API_KEY": WEB_KEY,
            "CRAG_TAVILY_BASE_URL": web.base_url,
        }
        if twins == "api":
            environment |= {
                "OPENAI_API_KEY": MODEL_KEY,
                "OPENAI_BASE_URL": model.base_url,
                "CRAG_CHAT_MODEL": CHAT_MODEL,
                "CRAG_EMBEDDINGS": "openai",
                "CRAG_EMBEDDING_MODEL": EMBEDDING_MODEL,
                "CRAG_EVALUATOR": "llm",
            }
        async with open_product(read(environment, None)) as product:
            await take_in(product, EXAMPLES)
            yield Setup(product=product, web=web, model=model)


async def take_in(product: Product, source: Path, *, space: str = SPACE) -> None:
    async for result in product.ingest.ingest(source, space=space, added_by="test"):
        assert result.outcome.value != "failed", result.reason


def kinds(answered: Answered) -> set[Kind]:
    return {citation.kind for citation in answered.answer.citations}


def kept(answered: Answered) -> str:
    """All text that the writer was given."""
    return "\n".join(judged.strip.text for judged in answered.strips if judged.kept)


def dropped(answered: Answered) -> str:
    return "\n".join(judged.strip.text for judged in answered.strips if not judged.kept)

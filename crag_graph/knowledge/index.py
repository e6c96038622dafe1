"""Which embedding model the library's vectors are of, and the index that goes with it."""

from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from crag_graph.knowledge.border import library_errors
from crag_graph.knowledge.tables import embedding_model, passages
from crag_graph.services import ServiceError

INDEX = "passages_embedding_idx"
GUARD = 0x656D6265  # key of the advisory lock of whoever makes or changes the index
MOST_DIMENSIONS = 4_000  # of an index over half-precision vectors
LINKS, BREADTH = 16, 100  # pgvector's m and ef_construction


class OtherEmbeddingError(ServiceError):
    """The library's passages were embedded with another model."""


async def prepare_index(engine: AsyncEngine, *, model: str, dimensions: int) -> None:
    """Makes the library one of this model where it is none's yet. Raises OtherEmbeddingError if it is another's."""
    with library_errors():
        async with engine.begin() as connection:
            await _alone(connection)
            found = (
                await connection.execute(select(embedding_model.c.name, embedding_model.c.dimensions))
            ).one_or_none()
            if found is None:
                await _take_for(connection, model, dimensions)
            elif tuple(found) != (model, dimensions):
                raise OtherEmbeddingError(
                    f"It has vectors of {found.name} ({found.dimensions} dimensions), and {model} ({dimensions}) is set. "
                    "Embed it again with `crag library refresh --all`, or set the former model."
                )


async def change_model(engine: AsyncEngine, *, model: str, dimensions: int) -> None:
    """Makes the library one of this model. Vectors of another one go, and their passages are stale.

    A stale passage is found by its words alone until it is embedded again. Questions are answered meanwhile: the index
    is locked only at the end, for the moment that a new one takes over empty columns.
    """
    with library_errors():
        async with engine.begin() as connection:
            await _alone(connection)
            found = (
                await connection.execute(select(embedding_model.c.name, embedding_model.c.dimensions))
            ).one_or_none()
            if found is not None and tuple(found) == (model, dimensions):
                return
            await connection.execute(delete(embedding_model))
            await connection.execute(update(passages).values(embedding=None, features=None, features_version=None))
            await _take_for(connection, model, dimensions)


async def expect_model(connection: AsyncConnection, model: str) -> None:
    """Keeps the library this model's until the transaction ends. Raises OtherEmbeddingError if it is not."""
    found = await connection.scalar(select(embedding_model.c.name).with_for_update(read=True))
    if found != model:
        raise OtherEmbeddingError(f"It has vectors of {found}, and these are of {model}: start this process again.")


async def _alone(connection: AsyncConnection) -> None:
    await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": GUARD})


async def _take_for(connection: AsyncConnection, model: str, dimensions: int) -> None:
    """The index leaves out vectors of other dimensions: it meets those of rows that were just overwritten."""
    if not 0 < dimensions <= MOST_DIMENSIONS:
        raise ValueError(f"a vector index takes 1 to {MOST_DIMENSIONS} dimensions, not {dimensions}")
    await connection.execute(insert(embedding_model).values(name=model, dimensions=dimensions))
    await connection.execute(text(f"DROP INDEX IF EXISTS {INDEX}"))
    await connection.execute(
        text(
            f"CREATE INDEX {INDEX} ON passages USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops) "
            f"WITH (m = {LINKS}, ef_construction = {BREADTH}) WHERE vector_dims(embedding) = {dimensions}"
        )
    )

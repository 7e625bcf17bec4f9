"""The memories nearest in meaning to a query, exactly or through an index.

Cosines come from `embeddings_search`, whose last sixteen dimensions are the place of owner and model; within
one place a distance of d there is a cosine of 1 - 2d between the vectors themselves.
"""

from collections.abc import Sequence
from typing import Any, Final, LiteralString

from msgspec import Struct

from alicia.ids import MemoryId
from alicia.storage.memories import Embedding
from alicia.storage.pool import Connection

EF_SEARCH: Final = 200
"""How many candidates a walk through the HNSW graph keeps; 200 find 99 of the nearest 100."""


class Filter(Struct, frozen=True, kw_only=True):
    """Only memories with all of these tags and of this type."""

    tags: Sequence[str] = ()
    memory_type: str | None = None


async def nearest_exactly(
    conn: Connection, owner: str, query: Embedding, only: Filter, limit: int
) -> list[MemoryId]:
    """The nearest memories, by looking at all of the owner's."""
    cursor = await conn.execute(_EXACTLY, _parameters(owner, query, only, limit))
    return [MemoryId(row[0]) for row in await cursor.fetchall()]


async def nearest(conn: Connection, owner: str, query: Embedding, only: Filter, limit: int) -> list[MemoryId]:
    """The nearest memories, through the HNSW index of the query's dimension; exactly where there is none.

    The caller must be in a transaction: settings of the search are made for its length.
    """
    statement = _THROUGH_INDEX.get(len(query.vector))
    if statement is None:
        return await nearest_exactly(conn, owner, query, only, limit)
    # Without sorting, the planner has no other way than the index, whatever it thinks of the owner's size.
    await conn.execute(
        """
        SELECT set_config('hnsw.ef_search', %s, true),
               set_config('hnsw.iterative_scan', 'relaxed_order', true),
               set_config('enable_sort', 'off', true)
        """,
        (str(EF_SEARCH),),
    )
    cursor = await conn.execute(statement, _parameters(owner, query, only, limit))
    found = [MemoryId(row[0]) for row in await cursor.fetchall()]
    await conn.execute("SELECT set_config('enable_sort', 'on', true)")
    return found


def _parameters(owner: str, query: Embedding, only: Filter, limit: int) -> dict[str, Any]:
    return {
        "owner": owner,
        "vector": query.plain,
        "model": query.model,
        "dimension": str(len(query.vector)),
        "tags": list(only.tags),
        "memory_type": only.memory_type,
        "limit": limit,
    }


_EXACTLY: Final[LiteralString] = """
    SELECT id
      FROM alicia_memory
     WHERE created_by = %(owner)s
       AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
       AND embeddings_info ->> 'model' = %(model)s
       AND embeddings_info ->> 'dimension' = %(dimension)s
       AND tags @> %(tags)s
       AND (%(memory_type)s::text IS NULL OR memory_type = %(memory_type)s)
     ORDER BY embeddings_search
              <=> (l2_normalize(%(vector)s::vector)::halfvec || alicia_place(%(owner)s, %(model)s))
     LIMIT %(limit)s
"""


def _indexed(dimension: LiteralString, placed: LiteralString) -> LiteralString:
    """The planner takes a partial index only when the statement repeats its predicate and its cast."""
    statement: LiteralString = _EXACTLY.replace("%(dimension)s", dimension)
    return statement.replace("embeddings_search\n", placed)


_THROUGH_INDEX: Final[dict[int, LiteralString]] = {
    384: _indexed("'384'", "embeddings_search::halfvec(400)"),
    512: _indexed("'512'", "embeddings_search::halfvec(528)"),
    768: _indexed("'768'", "embeddings_search::halfvec(784)"),
    1024: _indexed("'1024'", "embeddings_search::halfvec(1040)"),
}

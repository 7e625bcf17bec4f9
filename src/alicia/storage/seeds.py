"""Seeds of a recall: the pinned memories, those nearest in meaning, and those with the query's rare words.

Nearness is that of `embeddings_search`, whose last sixteen dimensions are the place of owner and model;
within one place a distance of d there is a cosine of 1 - 2d between the vectors themselves.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, LiteralString

from msgspec import Struct

from alicia.ids import MemoryId
from alicia.storage.memories import Embedding
from alicia.storage.pool import Connection

# A walk through the HNSW graph keeps 120 candidates (100 find 99% of the nearest 24 among 100,000), and goes
# on up to 5,000 where a filter, or a change of model, leaves little to be found.
_BEGIN: Final = """
    BEGIN;
    SET LOCAL plan_cache_mode = force_generic_plan;
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_sort = off;
    SET LOCAL hnsw.iterative_scan = relaxed_order;
    SET LOCAL hnsw.max_scan_tuples = 5000;
    SET LOCAL hnsw.ef_search = 120;
"""

MOST_HITS: Final = 2000
"""How many memories with the chosen words are weighed at most."""

MOST_SETS: Final = 3


class Filter(Struct, frozen=True, kw_only=True):
    """Only memories with all of these tags and of this type."""

    tags: Sequence[str] = ()
    memory_type: str | None = None


class Wanted(Struct, frozen=True, kw_only=True):
    """What seeds are sought by: a vector, and words with their weights.

    Looked up are memories with any of the words in `any_of`, or with all in one of the up to MOST_SETS sets
    in `all_of`.
    """

    vector: Embedding | None = None
    any_of: Sequence[str] = ()
    all_of: Sequence[Sequence[str]] = ()
    weights: Mapping[str, float] = {}
    average_length: float = 1.0
    only: Filter = Filter()


def lexeme_query(word: str) -> str:
    """A text-search query for a word that is stemmed already."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


@asynccontextmanager
async def searching(conn: Connection) -> AsyncGenerator[None]:
    """A transaction for searches, with settings of its own; it begins in one round trip.

    Plans of prepared statements are kept, since planning takes longer than most of them. Such a plan is made
    for an owner of middling size, so it must not be left to the planner whether an index pays: without
    reading whole tables and without sorting it has no other way. Where there is no index it does both all
    the same.
    """
    await conn.execute(_BEGIN)
    try:
        yield
    finally:
        # Nothing was written; after an error this is a rollback.
        await conn.execute("COMMIT")


async def seeds(
    conn: Connection, owner: str, wanted: Wanted, *, limit: int, exactly: bool = False
) -> list[MemoryId]:
    """Up to `limit` memories of each kind, each once.

    The nearest are found through the HNSW index of their dimension, or `exactly`, by looking at all of the
    owner's. Call it while `searching`.
    """
    vector, only = wanted.vector, wanted.only
    dimension = len(vector.vector) if vector else 0
    statement = _EXACTLY if exactly else _THROUGH_INDEX.get(dimension, _EXACTLY)
    cursor = await conn.execute(
        statement,
        {
            "owner": owner,
            "vector": vector and vector.plain,
            "model": vector and vector.model,
            "dimension": str(dimension),
            "any_of": list(wanted.any_of),
            **{f"all_of_{n}": list(words) for n, words in enumerate([*wanted.all_of, (), (), ()][:3])},
            "queries": [lexeme_query(word) for word in wanted.weights],
            "weights": list(wanted.weights.values()),
            "average": wanted.average_length,
            "tags": list(only.tags),
            "memory_type": only.memory_type,
            "most": MOST_HITS,
            "limit": limit,
        },
    )
    return list(dict.fromkeys(MemoryId(row[0]) for row in await cursor.fetchall()))


# An empty list of tags must not look like a condition for the index over them, which would give all rows.
_EXACTLY: Final[LiteralString] = """
    (SELECT id
       FROM alicia_memory
      WHERE created_by = %(owner)s
        AND pinned
        AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
        AND (%(tags)s::text[] = '{}' OR tags @> %(tags)s)
        AND (%(memory_type)s::text IS NULL OR memory_type = %(memory_type)s)
      ORDER BY importance DESC, id
      LIMIT %(limit)s)
      UNION ALL
    (SELECT id
       FROM alicia_memory
      WHERE created_by = %(owner)s
        AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
        AND embeddings_info ->> 'model' = %(model)s
        AND embeddings_info ->> 'dimension' = %(dimension)s
        AND (%(tags)s::text[] = '{}' OR tags @> %(tags)s)
        AND (%(memory_type)s::text IS NULL OR memory_type = %(memory_type)s)
      ORDER BY embeddings_search
            <=> (SELECT l2_normalize(%(vector)s::vector)::halfvec || alicia_place(%(owner)s, %(model)s))
      LIMIT %(limit)s)
      UNION ALL
    (SELECT id
       FROM (SELECT id, created_by, content_search, tags, memory_type, deleted_at, archived, superseded_by
               FROM alicia_memory
              WHERE alicia_words(created_by, content_search)
                    && (SELECT alicia_words(%(owner)s, array_to_tsvector(%(any_of)s::text[])))
                 OR alicia_words(created_by, content_search)
                    @> (SELECT alicia_words(%(owner)s, array_to_tsvector(%(all_of_0)s::text[])))
                 OR alicia_words(created_by, content_search)
                    @> (SELECT alicia_words(%(owner)s, array_to_tsvector(%(all_of_1)s::text[])))
                 OR alicia_words(created_by, content_search)
                    @> (SELECT alicia_words(%(owner)s, array_to_tsvector(%(all_of_2)s::text[])))
              LIMIT %(most)s) hits
      WHERE created_by = %(owner)s
        AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
        AND (%(tags)s::text[] = '{}' OR tags @> %(tags)s)
        AND (%(memory_type)s::text IS NULL OR memory_type = %(memory_type)s)
      ORDER BY (SELECT sum(weight)
                  FROM unnest(%(queries)s::tsquery[], %(weights)s::float8[]) AS q (query, weight)
                 WHERE content_search @@ query)
               / (1.6 + 0.6 * length(content_search) / %(average)s) DESC, id
      LIMIT %(limit)s)
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

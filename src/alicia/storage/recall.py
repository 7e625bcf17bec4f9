"""What recall reads: seeds by meaning and by words, what stands around them, and the memories themselves.

Every statement names the owner and leaves out deleted, archived and superseded memories.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString

from msgspec import Struct

from alicia.ids import MemoryId
from alicia.storage.memories import Embedding, Memory
from alicia.storage.nearest import Filter
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all

SAMPLE: Final = 2000
"""From how many of an owner's memories it is estimated how common a word is; fewer are counted exactly."""

MOST_HITS: Final = 4000
"""How many memories with a common word are weighed, where there is no rarer one."""


class WordCount(Struct, frozen=True, kw_only=True):
    """A word of the query, as the text search knows it, and how many memories of the sample have it."""

    word: str
    memories: int


class Sample(Struct, frozen=True, kw_only=True):
    """How many memories were looked at, and how many different words one has on average."""

    size: int
    average_length: float
    words: list[WordCount]


class Surrounding(Struct, frozen=True, kw_only=True):
    """A memory that is a seed or stands near one, with all that its rank depends on but its text."""

    id: MemoryId
    source: str
    position: float | None
    similarity: float | None
    """The cosine between query and memory; None without a vector of the query's model."""
    length: int
    words: list[int]
    """Which of the query's words it has."""
    importance: float
    confidence: float
    user_rating: int | None
    pinned: bool
    created_at: datetime
    eligible: bool
    """Whether it passes the filter, and so may be more than context."""


def lexeme_query(word: str) -> str:
    """A text-search query for a word that is stemmed already."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


async def sample(conn: Connection, owner: str, words: Sequence[str]) -> Sample:
    """How common words are among an owner's memories."""
    cursor = await conn.execute(
        """
        WITH sample AS MATERIALIZED (
            SELECT content_search
              FROM alicia_memory
             WHERE created_by = %(owner)s
               AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
             ORDER BY id
             LIMIT %(sample)s)
        SELECT (SELECT count(*) FROM sample),
               (SELECT coalesce(avg(length(content_search)), 1)::float8 FROM sample),
               ARRAY(SELECT (SELECT count(*) FROM sample WHERE content_search @@ query)
                       FROM unnest(%(queries)s::tsquery[]) WITH ORDINALITY AS q (query, n)
                      ORDER BY n)
        """,
        {"owner": owner, "sample": SAMPLE, "queries": [lexeme_query(word) for word in words]},
    )
    row = await cursor.fetchone()
    size, average, counts = row if row else (0, 1.0, [0] * len(words))
    found = [WordCount(word=word, memories=count) for word, count in zip(words, counts, strict=True)]
    return Sample(size=size, average_length=max(average, 1.0), words=found)


async def lexemes(conn: Connection, text: str) -> list[str]:
    """The words of a text, stemmed and without those that say nothing, each once."""
    cursor = await conn.execute("SELECT tsvector_to_array(to_tsvector('english', %s))", (text,))
    row = await cursor.fetchone()
    return row[0] if row else []


async def count_memories(conn: Connection, owner: str) -> int:
    """How many memories of an owner recall may find."""
    cursor = await conn.execute(
        """
        SELECT count(*)
          FROM alicia_memory
         WHERE created_by = %s
           AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
        """,
        (owner,),
    )
    row = await cursor.fetchone()
    return row[0] if row else 0


async def pinned(conn: Connection, owner: str, only: Filter, limit: int) -> list[MemoryId]:
    """The memories that the user has pinned, the most important first."""
    return await _ids(
        conn,
        """
        SELECT id
          FROM alicia_memory
         WHERE created_by = %(owner)s
           AND pinned
           AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
           AND tags @> %(tags)s
           AND (%(memory_type)s::text IS NULL OR memory_type = %(memory_type)s)
         ORDER BY importance DESC, id
         LIMIT %(limit)s
        """,
        {"owner": owner, "tags": list(only.tags), "memory_type": only.memory_type, "limit": limit},
    )


async def with_words(
    conn: Connection,
    owner: str,
    keys: Sequence[str],
    weights: Mapping[str, float],
    average_length: float,
    only: Filter,
    limit: int,
) -> list[MemoryId]:
    """The memories with any of the `keys` that have the most weight in words."""
    return await _ids(
        conn,
        """
        WITH hits AS MATERIALIZED (
            SELECT id, created_by, content_search, tags, memory_type, deleted_at, archived, superseded_by
              FROM alicia_memory
             WHERE alicia_words(created_by, content_search)
                   && alicia_words(%(owner)s, array_to_tsvector(%(keys)s::text[]))
             LIMIT %(most)s)
        SELECT id
          FROM hits
         WHERE created_by = %(owner)s
           AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
           AND tags @> %(tags)s
           AND (%(memory_type)s::text IS NULL OR memory_type = %(memory_type)s)
         ORDER BY (SELECT sum(weight)
                     FROM unnest(%(queries)s::tsquery[], %(weights)s::float8[]) AS q (query, weight)
                    WHERE content_search @@ query)
                  / (1.6 + 0.6 * length(content_search) / %(average)s) DESC, id
         LIMIT %(limit)s
        """,
        {
            "owner": owner,
            "keys": list(keys),
            "queries": [lexeme_query(word) for word in weights],
            "weights": list(weights.values()),
            "average": average_length,
            "tags": list(only.tags),
            "memory_type": only.memory_type,
            "most": MOST_HITS,
            "limit": limit,
        },
    )


async def surroundings(
    conn: Connection,
    owner: str,
    seeds: Sequence[str],
    words: Sequence[str],
    query: Embedding | None,
    only: Filter,
    reach: int,
) -> list[Surrounding]:
    """The seeds and what stands up to `reach` positions from them in the same source."""
    return await fetch_all(
        conn,
        Surrounding,
        """
        WITH seeds AS MATERIALIZED (
            SELECT id, alicia_source(source_type, source_info) AS source,
                   alicia_position(source_info) AS position
              FROM alicia_memory
             WHERE id = ANY(%(seeds)s)
               AND created_by = %(owner)s),
             near AS MATERIALIZED (
            SELECT id FROM seeds
             UNION
            SELECT m.id
              FROM seeds s
              JOIN alicia_memory m
                ON m.created_by = %(owner)s
               AND alicia_source(m.source_type, m.source_info) = s.source
               AND alicia_position(m.source_info) BETWEEN s.position - %(reach)s AND s.position + %(reach)s),
             target AS (
            SELECT l2_normalize(%(vector)s::vector)::halfvec || alicia_place(%(owner)s, %(model)s) AS vector)
        SELECT m.id, alicia_source(m.source_type, m.source_info) AS source,
               alicia_position(m.source_info)::float8 AS position,
               CASE WHEN m.embeddings_info ->> 'model' = %(model)s
                     AND m.embeddings_info ->> 'dimension' = %(dimension)s
                    THEN 1 - 2 * (m.embeddings_search <=> (SELECT vector FROM target)) END AS similarity,
               length(m.content_search) AS length,
               ARRAY(SELECT n - 1
                       FROM unnest(%(queries)s::tsquery[]) WITH ORDINALITY AS q (query, n)
                      WHERE m.content_search @@ query) AS words,
               m.importance, m.confidence, m.user_rating, m.pinned, m.created_at,
               m.tags @> %(tags)s AND (%(memory_type)s::text IS NULL OR m.memory_type = %(memory_type)s)
               AS eligible
          FROM near
          JOIN alicia_memory m ON m.id = near.id
         WHERE m.created_by = %(owner)s
           AND m.deleted_at IS NULL AND NOT m.archived AND m.superseded_by IS NULL
        """,
        {
            "owner": owner,
            "seeds": list(seeds),
            "reach": reach,
            "vector": query and query.plain,
            "model": query and query.model,
            "dimension": query and str(len(query.vector)),
            "queries": [lexeme_query(word) for word in words],
            "tags": list(only.tags),
            "memory_type": only.memory_type,
        },
    )


async def memories_by_id(conn: Connection, owner: str, memory_ids: Sequence[str]) -> dict[MemoryId, Memory]:
    """Those of an owner's memories that recall may use, by their ids."""
    found = await fetch_all(
        conn,
        Memory,
        """
        SELECT id, content, embeddings_info, importance, confidence, user_rating, created_by, source_type,
               source_info, tags, pinned, archived, memory_type, superseded_by, created_at, updated_at,
               deleted_at
          FROM alicia_memory
         WHERE id = ANY(%s)
           AND created_by = %s
           AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
        """,
        (list(memory_ids), owner),
    )
    return {memory.id: memory for memory in found}


async def _ids(conn: Connection, statement: LiteralString, parameters: Mapping[str, Any]) -> list[MemoryId]:
    cursor = await conn.execute(statement, parameters)
    return [MemoryId(row[0]) for row in await cursor.fetchall()]

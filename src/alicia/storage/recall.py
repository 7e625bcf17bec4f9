"""What recall reads besides its seeds: how common words are, what stands around seeds, the memories.

Every statement names the owner and leaves out deleted, archived and superseded memories.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from alicia.ids import MemoryId
from alicia.storage.memories import Embedding, Memory
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all
from alicia.storage.seeds import Filter, lexeme_query

SAMPLE: Final = 1000
"""From how many of an owner's memories it is estimated how common a word is; fewer are counted exactly."""

MOST_WORDS: Final = 48
"""How many words of a query are looked at."""


class WordCount(Struct, frozen=True, kw_only=True):
    """A word of the query, as the text search knows it, and how many memories of the sample have it."""

    word: str
    memories: int
    own: bool
    """Whether it is in the message itself, not only in the context."""


class Sample(Struct, frozen=True, kw_only=True):
    """How many memories were looked at, and how many different words one has on average."""

    size: int
    average_length: float
    words: list[WordCount]


class Vocabulary(Struct, frozen=True, kw_only=True):
    """The words of a sample of an owner's memories: in how many each is, and how many memories there are."""

    memories: int
    sampled: int
    average_length: float
    counts: dict[str, int]

    def sample(self, words: Sequence[tuple[str, bool]]) -> Sample:
        """What `sample` would say of these words."""
        found = [WordCount(word=word, own=own, memories=self.counts.get(word, 0)) for word, own in words]
        return Sample(size=self.sampled, average_length=self.average_length, words=found)


class Surrounding(Struct, frozen=True):
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
    age: float
    """In days."""
    eligible: bool
    """Whether it passes the filter, and so may be more than context."""


async def sample(conn: Connection, owner: str, message: str, context: str = "") -> Sample:
    """The words of a query, stemmed and without those that say nothing, and how common they are."""
    cursor = await conn.execute(
        """
        WITH sample AS MATERIALIZED (
            SELECT content_search
              FROM alicia_memory
             WHERE created_by = %(owner)s
               AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
             ORDER BY id
             LIMIT %(sample)s),
             words AS MATERIALIZED (
            SELECT word, own,
                   ('''' || replace(replace(word, '\\', '\\\\'), '''', '''''') || '''')::tsquery AS query
              FROM (SELECT word, bool_or(own) AS own
                      FROM (SELECT unnest(tsvector_to_array(to_tsvector('english', %(message)s))) AS word,
                                   true AS own
                             UNION ALL
                            SELECT unnest(tsvector_to_array(to_tsvector('english', %(context)s))), false) w
                     GROUP BY word
                     ORDER BY own DESC, word
                     LIMIT %(most)s) w)
        SELECT (SELECT count(*) FROM sample),
               (SELECT coalesce(avg(length(content_search)), 1)::float8 FROM sample),
               ARRAY(SELECT word FROM words),
               ARRAY(SELECT own FROM words),
               ARRAY(SELECT (SELECT count(*) FROM sample WHERE content_search @@ query) FROM words)
        """,
        {"owner": owner, "sample": SAMPLE, "message": message, "context": context, "most": MOST_WORDS},
    )
    row = await cursor.fetchone()
    if row is None:
        return Sample(size=0, average_length=1.0, words=[])
    size, average, words, owns, counts = row
    found = [
        WordCount(word=word, own=own, memories=count)
        for word, own, count in zip(words, owns, counts, strict=True)
    ]
    return Sample(size=size, average_length=max(average, 1.0), words=found)


async def words_of(conn: Connection, message: str, context: str = "") -> list[tuple[str, bool]]:
    """The words of a query as `sample` gives them, and whether each is in the message itself."""
    cursor = await conn.execute(
        """
        SELECT word, bool_or(own)
          FROM (SELECT unnest(tsvector_to_array(to_tsvector('english', %(message)s))) AS word, true AS own
                 UNION ALL
                SELECT unnest(tsvector_to_array(to_tsvector('english', %(context)s))), false) w
         GROUP BY word
         ORDER BY bool_or(own) DESC, word
         LIMIT %(most)s
        """,
        {"message": message, "context": context, "most": MOST_WORDS},
    )
    return [(row[0], row[1]) for row in await cursor.fetchall()]


async def vocabulary(conn: Connection, owner: str) -> Vocabulary:
    """How common every word of an owner's memories is, by a sample of them."""
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
               counted.words, counted.counts
          FROM (SELECT array_agg(word) AS words, array_agg(memories) AS counts
                  FROM (SELECT word, count(*) AS memories
                          FROM sample, unnest(tsvector_to_array(content_search)) AS word
                         GROUP BY word) w) counted
        """,
        {"owner": owner, "sample": SAMPLE},
    )
    row = await cursor.fetchone()
    sampled, average, words, counts = row or (0, 1.0, [], [])
    return Vocabulary(
        memories=await count_memories(conn, owner),
        sampled=sampled,
        average_length=max(average, 1.0),
        counts=dict(zip(words or [], counts or [], strict=True)),
    )


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
    # Hundreds of rows: read in binary and made without keywords, they cost half as much.
    async with conn.cursor(binary=True) as cursor:
        await cursor.execute(
            """
            WITH seeds AS MATERIALIZED (
                SELECT ctid AS place, alicia_source(source_type, source_info) AS source,
                       alicia_position(source_info) AS position
                  FROM alicia_memory
                 WHERE id = ANY(%(seeds)s)
                   AND created_by = %(owner)s),
                 near AS MATERIALIZED (
                SELECT place FROM seeds
                 UNION
                SELECT m.ctid
                  FROM seeds s
                  JOIN alicia_memory m
                    ON m.created_by = %(owner)s
                   AND alicia_source(m.source_type, m.source_info) = s.source
                   AND alicia_position(m.source_info)
                       BETWEEN s.position - %(reach)s AND s.position + %(reach)s)
            SELECT m.id, alicia_source(m.source_type, m.source_info),
                   alicia_position(m.source_info)::float8,
                   CASE WHEN m.embeddings_info ->> 'model' = %(model)s
                         AND m.embeddings_info ->> 'dimension' = %(dimension)s
                        THEN 1 - 2 * (m.embeddings_search
                                      <=> (SELECT l2_normalize(%(vector)s::vector)::halfvec
                                                  || alicia_place(%(owner)s, %(model)s))) END,
                   length(m.content_search),
                   ARRAY(SELECT (n - 1)::integer
                           FROM unnest(%(queries)s::tsquery[]) WITH ORDINALITY AS q (query, n)
                          WHERE m.content_search @@ query),
                   m.importance, m.confidence, m.user_rating, m.pinned,
                   extract(epoch FROM (now() AT TIME ZONE 'utc') - m.created_at)::float8 / 86400,
                   m.tags @> %(tags)s AND (%(memory_type)s::text IS NULL OR m.memory_type = %(memory_type)s)
              FROM near
              JOIN alicia_memory m ON m.ctid = near.place
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
        return [Surrounding(*row) for row in await cursor.fetchall()]


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

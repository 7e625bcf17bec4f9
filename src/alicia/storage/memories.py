"""Memories: create, read, update, archive, delete. No statement reads one without naming its owner."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, LiteralString

from msgspec import UNSET, Struct, UnsetType
from psycopg.types.json import Jsonb

from alicia import ids
from alicia.errors import LocalProtocolError
from alicia.ids import ConversationId, MemoryId, MessageId
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all, fetch_one

DIMENSIONS: Final = 1024
"""How many numbers the column `embeddings` holds; shorter vectors are filled up with zeros."""


class Embedding(Struct, frozen=True, kw_only=True):
    """A vector and the model that made it; only vectors of one model are ever compared."""

    model: str
    vector: Sequence[float]

    @property
    def padded(self) -> str:
        """The vector as PostgreSQL reads it, filled up with zeros, which leave cosines as they are."""
        if not 0 < len(self.vector) <= DIMENSIONS:
            raise LocalProtocolError(
                f"an embedding has 1 to {DIMENSIONS} numbers, this one {len(self.vector)}"
            )
        return f"{self.plain[:-1]}{',0' * (DIMENSIONS - len(self.vector))}]"

    @property
    def plain(self) -> str:
        """The vector as PostgreSQL reads it, as long as it is."""
        return f"[{','.join([f'{number:.7g}' for number in self.vector])}]"

    @property
    def info(self) -> dict[str, Any]:
        """What `embeddings_info` says; the indexes go by `dimension`, as text."""
        return {"model": self.model, "dimension": len(self.vector)}


class NewMemory(Struct, frozen=True, kw_only=True):
    """A memory that is to be stored."""

    content: str
    embedding: Embedding | None = None
    importance: float = 0.5
    confidence: float = 1.0
    user_rating: int | None = None
    source_type: str | None = None
    source_info: dict[str, Any] = {}
    tags: Sequence[str] = ()
    pinned: bool = False
    memory_type: str | None = None
    supersedes: MemoryId | None = None


class Memory(Struct, frozen=True, kw_only=True):
    """A row of `alicia_memory` without its vector."""

    id: MemoryId
    content: str
    embeddings_info: dict[str, Any]
    importance: float
    confidence: float
    user_rating: int | None
    created_by: str
    source_type: str | None
    source_info: dict[str, Any]
    tags: list[str]
    pinned: bool
    archived: bool
    memory_type: str | None
    superseded_by: MemoryId | None
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None


class MemoryUsage(Struct, frozen=True, kw_only=True):
    """How often a memory was used, and how near it was to what was asked."""

    memory_id: MemoryId
    content: str
    usage_count: int
    avg_similarity: float | None


class MemoryMoment(Struct, frozen=True, kw_only=True):
    """One use of a memory, with the contents of the message that prompted it."""

    id: str
    conversation_id: ConversationId
    message_id: MessageId
    message_content: str
    action: str
    similarity_score: float | None
    confidence: float | None
    position_in_results: int | None
    created_at: datetime


INSERT: Final[LiteralString] = """
    INSERT INTO alicia_memory (id, content, embeddings, embeddings_info, importance, confidence, user_rating,
                               created_by, source_type, source_info, tags, pinned, memory_type)
    VALUES (%(id)s, %(content)s, %(embeddings)s, %(embeddings_info)s, %(importance)s, %(confidence)s,
            %(user_rating)s, %(owner)s, %(source_type)s, %(source_info)s, %(tags)s, %(pinned)s,
            %(memory_type)s)
"""

SUPERSEDE: Final[LiteralString] = """
    UPDATE alicia_memory
       SET superseded_by = %(id)s
     WHERE id = %(supersedes)s
       AND created_by = %(owner)s
"""


def columns(owner: str, memory_id: str, new: NewMemory) -> dict[str, Any]:
    """The parameters of INSERT and SUPERSEDE."""
    return {
        "id": memory_id,
        "owner": owner,
        "content": new.content,
        "embeddings": new.embedding and new.embedding.padded,
        "embeddings_info": Jsonb(new.embedding.info if new.embedding else {}),
        "importance": new.importance,
        "confidence": new.confidence,
        "user_rating": new.user_rating,
        "source_type": new.source_type,
        "source_info": Jsonb(new.source_info),
        "tags": list(new.tags),
        "pinned": new.pinned,
        "memory_type": new.memory_type,
        "supersedes": new.supersedes,
    }


async def create_memories(conn: Connection, owner: str, memories: Sequence[NewMemory]) -> list[MemoryId]:
    """Store all or none of them; the ids come in their order."""
    made = [(ids.new(MemoryId), memory) for memory in memories]
    rows = [columns(owner, memory_id, memory) for memory_id, memory in made]
    async with conn.transaction(), conn.cursor() as cursor:
        await cursor.executemany(INSERT, rows)
        await cursor.executemany(SUPERSEDE, [row for row in rows if row["supersedes"]])
    return [memory_id for memory_id, _ in made]


async def memory(conn: Connection, owner: str, memory_id: str) -> Memory | None:
    """This owner's memory; None for deleted ones and other people's."""
    return await fetch_one(
        conn,
        Memory,
        """
        SELECT id, content, embeddings_info, importance, confidence, user_rating, created_by, source_type,
               source_info, tags, pinned, archived, memory_type, superseded_by, created_at, updated_at,
               deleted_at
          FROM alicia_memory
         WHERE id = %s
           AND created_by = %s
           AND deleted_at IS NULL
        """,
        (memory_id, owner),
    )


async def memories(
    conn: Connection,
    owner: str,
    *,
    tags: Sequence[str] = (),
    memory_type: str | None = None,
    archived: bool = False,
    before: tuple[datetime, str] | None = None,
    limit: int = 50,
) -> list[Memory]:
    """An owner's memories with all these tags, newest first; `before` is the last one's (created_at, id)."""
    moment, last_id = before or (None, None)
    return await fetch_all(
        conn,
        Memory,
        """
        SELECT id, content, embeddings_info, importance, confidence, user_rating, created_by, source_type,
               source_info, tags, pinned, archived, memory_type, superseded_by, created_at, updated_at,
               deleted_at
          FROM alicia_memory
         WHERE created_by = %(owner)s
           AND deleted_at IS NULL
           AND archived = %(archived)s
           AND (%(tags)s::text[] = '{}' OR tags @> %(tags)s)
           AND (%(memory_type)s::text IS NULL OR memory_type = %(memory_type)s)
           AND (%(moment)s::timestamptz IS NULL
                OR (created_at, id) < (%(moment)s::timestamptz AT TIME ZONE 'utc', %(last_id)s))
         ORDER BY created_at DESC, id DESC
         LIMIT %(limit)s
        """,
        {
            "owner": owner,
            "archived": archived,
            "tags": list(tags),
            "memory_type": memory_type,
            "moment": moment,
            "last_id": last_id,
            "limit": limit,
        },
    )


async def update_memory(
    conn: Connection,
    owner: str,
    memory_id: str,
    *,
    content: str | None = None,
    embedding: Embedding | None = None,
    importance: float | None = None,
    confidence: float | None = None,
    user_rating: int | UnsetType | None = UNSET,
    tags: Sequence[str] | None = None,
    pinned: bool | None = None,
    archived: bool | None = None,
    memory_type: str | None = None,
) -> Memory | None:
    """Set what is given; None if the memory is not this owner's.

    New content without its embedding takes the old one away, which would no longer fit.
    """
    return await fetch_one(
        conn,
        Memory,
        """
           UPDATE alicia_memory
              SET content         = coalesce(%(content)s, content),
                  embeddings      = CASE WHEN %(content)s::text IS NULL AND %(embeddings)s::vector IS NULL
                                         THEN embeddings ELSE %(embeddings)s END,
                  embeddings_info = CASE WHEN %(content)s::text IS NULL AND %(embeddings)s::vector IS NULL
                                         THEN embeddings_info ELSE %(embeddings_info)s END,
                  importance      = coalesce(%(importance)s, importance),
                  confidence      = coalesce(%(confidence)s, confidence),
                  user_rating     = CASE WHEN %(rated)s THEN %(user_rating)s ELSE user_rating END,
                  tags            = coalesce(%(tags)s, tags),
                  pinned          = coalesce(%(pinned)s, pinned),
                  archived        = coalesce(%(archived)s, archived),
                  memory_type     = coalesce(%(memory_type)s, memory_type)
            WHERE id = %(id)s
              AND created_by = %(owner)s
              AND deleted_at IS NULL
        RETURNING id, content, embeddings_info, importance, confidence, user_rating, created_by, source_type,
                  source_info, tags, pinned, archived, memory_type, superseded_by, created_at, updated_at,
                  deleted_at
        """,
        {
            "id": memory_id,
            "owner": owner,
            "content": content,
            "embeddings": embedding and embedding.padded,
            "embeddings_info": Jsonb(embedding.info if embedding else {}),
            "importance": importance,
            "confidence": confidence,
            "rated": user_rating is not UNSET,
            "user_rating": None if user_rating is UNSET else user_rating,
            "tags": None if tags is None else list(tags),
            "pinned": pinned,
            "archived": archived,
            "memory_type": memory_type,
        },
    )


async def archive_memory(
    conn: Connection, owner: str, memory_id: str, archived: bool = True
) -> Memory | None:
    """Hide a memory from recall and lists, or bring it back."""
    return await update_memory(conn, owner, memory_id, archived=archived)


async def delete_memory(conn: Connection, owner: str, memory_id: str) -> bool:
    """Soft deletion; whether there was such a memory. The real erase is the ledger's `erase_memory`."""
    cursor = await conn.execute(
        """
        UPDATE alicia_memory
           SET deleted_at = now() AT TIME ZONE 'utc'
         WHERE id = %s
           AND created_by = %s
           AND deleted_at IS NULL
        """,
        (memory_id, owner),
    )
    return cursor.rowcount == 1


async def memory_moments(
    conn: Connection,
    owner: str,
    memory_id: str,
    limit: int = 100,
    *,
    before: tuple[datetime, str] | None = None,
) -> list[MemoryMoment]:
    """When a memory was used, latest first; `before` is the last one's (created_at, id)."""
    moment, last_id = before or (None, None)
    return await fetch_all(
        conn,
        MemoryMoment,
        """
        SELECT mu.id, mu.conversation_id, mu.message_id, said.contents AS message_content, mu.action,
               mu.similarity_score, mu.confidence, mu.position_in_results, mu.created_at
          FROM alicia_memory_used mu
          JOIN alicia_memory m ON m.id = mu.memory_id
          JOIN alicia_messages said ON said.id = mu.message_id
         WHERE mu.memory_id = %(id)s
           AND m.created_by = %(owner)s
           AND mu.deleted_at IS NULL
           AND (%(moment)s::timestamptz IS NULL
                OR (mu.created_at, mu.id) < (%(moment)s::timestamptz AT TIME ZONE 'utc', %(last_id)s))
         ORDER BY mu.created_at DESC, mu.id DESC
         LIMIT %(limit)s
        """,
        {"id": memory_id, "owner": owner, "moment": moment, "last_id": last_id, "limit": limit},
    )


async def memory_usage(conn: Connection, owner: str, *, days: int = 30, limit: int = 10) -> list[MemoryUsage]:
    """Which memories were used most in the last days."""
    return await fetch_all(
        conn,
        MemoryUsage,
        """
        SELECT m.id AS memory_id, m.content, count(*) AS usage_count,
               avg(mu.similarity_score) AS avg_similarity
          FROM alicia_memory_used mu
          JOIN alicia_memory m ON m.id = mu.memory_id
         WHERE mu.deleted_at IS NULL
           AND mu.created_at > (now() AT TIME ZONE 'utc') - make_interval(days => %s)
           AND m.created_by = %s
           AND m.deleted_at IS NULL
         GROUP BY m.id, m.content
         ORDER BY usage_count DESC, m.id
         LIMIT %s
        """,
        (days, owner, limit),
    )

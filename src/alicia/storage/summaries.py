"""Rolling summaries: what stands for the messages of a conversation that no longer fit into a prompt.

A summary is a memory of type `conversation_summary`, or, while memory is off, the conversation's meta. It
says which messages it covers: all that were live up to `through`. Whatever supersedes one of these supersedes
`through` too, so a summary holds for as long as that message is live. Earlier stages are kept beside it for
the day when it is not.
"""

from collections.abc import Sequence
from typing import Any, Final, LiteralString

import msgspec
from msgspec import Struct
from psycopg.types.json import Jsonb

from alicia.ids import MemoryId, MessageId
from alicia.storage.messages import Message
from alicia.storage.meta import meta_of, set_meta
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all

MEMORY_TYPE: Final = "conversation_summary"
META_KEY: Final = "summary"
"""Erasing a message takes the conversation's meta keys that begin so."""


class Stage(Struct, frozen=True, kw_only=True):
    """A summary as it was at one time: its text, the last message it covers, and how many those are."""

    text: str
    through: MessageId
    messages: int


class Summary(Struct, frozen=True, kw_only=True):
    """The stages that still hold, newest first; `stale` when the one that is stored does not."""

    stages: Sequence[Stage] = ()
    memory_id: MemoryId | None = None
    stale: bool = False


class _Covers(Struct, frozen=True, kw_only=True):
    through: MessageId
    messages: int


class _Info(Struct, frozen=True, kw_only=True):
    """What a summary's `source_info` says."""

    covers: _Covers
    earlier: list[Stage] = []


def source_info(conversation_id: str, stages: Sequence[Stage]) -> dict[str, Any]:
    """What a summary's memory says of where it comes from; the newest stage is the memory's own text."""
    newest, *earlier = stages
    return {
        "conversationId": conversation_id,
        "messageId": newest.through,
        "covers": {"through": newest.through, "messages": newest.messages},
        "earlier": msgspec.to_builtins(earlier),
    }


async def stored_summary(conn: Connection, owner: str, conversation_id: str, *, memory: bool) -> Summary:
    """An owner's summary of a conversation; `memory`: from its memory, if there is one, else from meta."""
    if memory and (found := await _from_memory(conn, owner, conversation_id)):
        memory_id, stages = found
    else:
        memory_id, stages = None, await _from_meta(conn, conversation_id)
    live = await _live(conn, owner, conversation_id, [stage.through for stage in stages])
    holding = [stage for stage in stages if stage.through in live]
    return Summary(stages=holding, memory_id=memory_id, stale=holding[:1] != stages[:1])


async def keep_in_meta(conn: Connection, conversation_id: str, stages: Sequence[Stage]) -> None:
    """Store a summary where no memory may be; no stages, no summary."""
    await set_meta(conn, conversation_id, META_KEY, msgspec.to_builtins(stages) or None)


_UNCOVERED: Final[LiteralString] = """
          FROM alicia_messages m
          JOIN alicia_conversations c ON c.id = m.conversation_id
         WHERE m.conversation_id = %(conversation_id)s
           AND c.user_id = %(owner)s
           AND m.superseded_by IS NULL
           AND m.deleted_at IS NULL
           AND m.sequence_number > coalesce((SELECT sequence_number
                                               FROM alicia_messages
                                              WHERE id = %(after)s
                                                AND conversation_id = %(conversation_id)s), 0)
"""


async def uncovered(
    conn: Connection, owner: str, conversation_id: str, after: str | None, limit: int
) -> list[Message]:
    """The oldest live messages after the one named, in their order."""
    return await fetch_all(
        conn,
        Message,
        """
        SELECT m.id, m.conversation_id, m.sequence_number, m.previous_id, m.message_role, m.contents,
               m.local_id, m.server_id, m.sync_status, m.synced_at, m.completion_status, m.audio_id,
               m.superseded_by, m.created_at, m.updated_at, m.deleted_at
        """
        + _UNCOVERED
        + """
         ORDER BY m.sequence_number
         LIMIT %(limit)s
        """,
        {"conversation_id": conversation_id, "owner": owner, "after": after, "limit": limit},
    )


async def count_uncovered(conn: Connection, owner: str, conversation_id: str, after: str | None) -> int:
    """How many live messages there are after the one named."""
    cursor = await conn.execute(
        "SELECT count(*)" + _UNCOVERED,
        {"conversation_id": conversation_id, "owner": owner, "after": after},
    )
    row = await cursor.fetchone()
    return row[0] if row else 0


async def _from_memory(
    conn: Connection, owner: str, conversation_id: str
) -> tuple[MemoryId, list[Stage]] | None:
    cursor = await conn.execute(
        """
        SELECT id, content, source_info
          FROM alicia_memory
         WHERE created_by = %(owner)s
           AND memory_type = %(memory_type)s
           AND source_info @> %(source)s
           AND deleted_at IS NULL AND NOT archived AND superseded_by IS NULL
         ORDER BY created_at DESC
         LIMIT 1
        """,
        {
            "owner": owner,
            "memory_type": MEMORY_TYPE,
            "source": Jsonb({"conversationId": conversation_id}),
        },
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    memory_id, content, told = row
    try:
        info = msgspec.convert(told, _Info)
    except msgspec.ValidationError:
        return None
    newest = Stage(text=content, through=info.covers.through, messages=info.covers.messages)
    return memory_id, [newest, *info.earlier]


async def _from_meta(conn: Connection, conversation_id: str) -> list[Stage]:
    for row in await meta_of(conn, conversation_id, key=META_KEY):
        if row.value:
            try:
                return msgspec.json.decode(row.value, type=list[Stage])
            except msgspec.DecodeError:
                return []
    return []


async def _live(conn: Connection, owner: str, conversation_id: str, message_ids: Sequence[str]) -> set[str]:
    if not message_ids:
        return set()
    cursor = await conn.execute(
        """
        SELECT m.id
          FROM alicia_messages m
          JOIN alicia_conversations c ON c.id = m.conversation_id
         WHERE m.id = ANY(%s)
           AND m.conversation_id = %s
           AND c.user_id = %s
           AND m.superseded_by IS NULL
           AND m.deleted_at IS NULL
        """,
        (list(message_ids), conversation_id, owner),
    )
    return {row[0] for row in await cursor.fetchall()}

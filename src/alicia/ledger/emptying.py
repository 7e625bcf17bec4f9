"""The statements that empty rows: content, sound, vectors and meta go, ids and times stay."""

from typing import Any, LiteralString

import msgspec

from alicia.ids import ConversationId
from alicia.protocol.envelope import decode, encode
from alicia.protocol.messages import Tombstone
from alicia.storage.pool import Connection

Erased = dict[ConversationId, list[str]]
"""The ids of what was emptied, by conversation; a conversation's own id stands for all of it."""


async def empty_loose(conn: Connection, conversation_id: str) -> list[str]:
    """Notes on the conversation itself, and recordings that never became a message."""
    notes = await fetch(
        conn,
        """
           UPDATE alicia_user_conversation_commentaries
              SET content = '', meta = '{}', deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
            WHERE conversation_id = %(id)s
        RETURNING id
        """,
        id=conversation_id,
    )
    sounds = await fetch(
        conn,
        """
        SELECT DISTINCT ref
          FROM alicia_stanzas
         WHERE conversation_id = %(id)s
           AND ref ^@ 'aa_'
        """,
        id=conversation_id,
    )
    return [row[0] for row in notes] + await empty_audio(conn, [row[0] for row in sounds])


async def empty_messages(conn: Connection, message_ids: list[str]) -> list[str]:
    """Empty these messages and all their parts; the ids of everything that was emptied."""
    emptied = [*message_ids]
    parts = {"ids": message_ids}
    for statement in (
        """
           UPDATE alicia_messages
              SET contents = '', deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc'),
                  completion_status = CASE completion_status WHEN 'failed' THEN 'failed' ELSE 'completed' END
            WHERE id = ANY(%(ids)s)
        RETURNING id
        """,
        """
           UPDATE alicia_sentences
              SET text = '', meta = '{}', audio_data = NULL, audio_bytesize = NULL,
                  deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
            WHERE message_id = ANY(%(ids)s)
        RETURNING id
        """,
        """
           UPDATE alicia_reasoning_steps
              SET content = '', deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
            WHERE message_id = ANY(%(ids)s)
        RETURNING id
        """,
        """
           UPDATE alicia_tool_uses
              SET tool_arguments = '{}', tool_result = NULL, error_message = NULL,
                  deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
            WHERE message_id = ANY(%(ids)s)
        RETURNING id
        """,
        """
           UPDATE alicia_user_conversation_commentaries
              SET content = '', meta = '{}', deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
            WHERE message_id = ANY(%(ids)s)
        RETURNING id
        """,
        """
           UPDATE alicia_memory_used
              SET query_prompt = NULL, query_prompt_meta = '{}', meta = '{}', content = '', metadata = '{}',
                  deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
            WHERE message_id = ANY(%(ids)s)
               OR message_id IN (SELECT previous_id FROM alicia_messages WHERE id = ANY(%(ids)s))
                  AND metadata ->> 'answerId' = ANY(%(ids)s)
        RETURNING id
        """,
    ):
        emptied += [row[0] for row in await (await conn.execute(statement, parts)).fetchall()]
    sounds = await fetch(
        conn,
        """
        SELECT id FROM alicia_audio WHERE message_id = ANY(%(ids)s)
         UNION
        SELECT audio_id FROM alicia_messages WHERE id = ANY(%(ids)s) AND audio_id IS NOT NULL
        """,
        ids=message_ids,
    )
    emptied += await empty_audio(conn, [row[0] for row in sounds])
    return list(dict.fromkeys(emptied))


async def empty_audio(conn: Connection, audio_ids: list[str]) -> list[str]:
    await conn.execute(
        """
        UPDATE alicia_audio
           SET audio_data = NULL, transcription = NULL, transcription_meta = '{}',
               deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
         WHERE id = ANY(%s)
        """,
        (audio_ids,),
    )
    return audio_ids


async def empty_memories(conn: Connection, owner: str, memory_ids: list[str]) -> Erased:
    """Empty these memories and their traces; which traces, by conversation."""
    if not memory_ids:
        return {}
    await conn.execute(
        """
        UPDATE alicia_memory
           SET content = '', embeddings = NULL, embeddings_info = '{}', source_type = NULL,
               source_info = '{}', tags = '{}', memory_type = NULL, user_rating = NULL,
               deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
         WHERE id = ANY(%s)
           AND created_by = %s
        """,
        (memory_ids, owner),
    )
    await forget_meta(conn, memory_ids)
    traces = await fetch(
        conn,
        """
           UPDATE alicia_memory_used
              SET query_prompt = NULL, query_prompt_meta = '{}', meta = '{}', content = '', metadata = '{}',
                  deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
            WHERE memory_id = ANY(%(ids)s)
        RETURNING conversation_id, id
        """,
        ids=memory_ids,
    )
    erased: Erased = {}
    for conversation_id, trace_id in traces:
        erased.setdefault(conversation_id, []).append(trace_id)
    return erased


async def empty_late_traces(
    conn: Connection, owner: str, conversation_id: str, trace_ids: list[str]
) -> list[str]:
    """Empty what was told here of erased memories after these traces of them were emptied; which traces."""
    traces = await fetch(
        conn,
        """
           UPDATE alicia_memory_used late
              SET query_prompt = NULL, query_prompt_meta = '{}', meta = '{}', content = '', metadata = '{}',
                  deleted_at = now() AT TIME ZONE 'utc'
            WHERE late.conversation_id = %(conversation_id)s
              AND late.deleted_at IS NULL
              AND late.memory_id IN (SELECT m.id
                                       FROM alicia_memory_used mu
                                       JOIN alicia_memory m ON m.id = mu.memory_id
                                      WHERE mu.id = ANY(%(ids)s)
                                        AND m.created_by = %(owner)s
                                        AND m.content = ''
                                        AND m.deleted_at IS NOT NULL)
        RETURNING late.id
        """,
        owner=owner,
        conversation_id=conversation_id,
        ids=trace_ids,
    )
    return [row[0] for row in traces]


async def forget_meta(conn: Connection, refs: list[str]) -> None:
    await conn.execute("DELETE FROM alicia_meta WHERE ref = ANY(%s)", (refs,))


async def entomb(conn: Connection, conversation_id: str, refs: list[str] | None) -> None:
    """Leave of the envelopes about these ids (None: of all) their numbers, their type and one id."""
    rows = await fetch(
        conn,
        """
        SELECT stanza_id, ref, envelope
          FROM alicia_stanzas
         WHERE conversation_id = %(id)s
           AND (%(refs)s::text[] IS NULL OR ref = ANY(%(refs)s))
        """,
        id=conversation_id,
        refs=refs,
    )
    tombstones = [
        encode(msgspec.structs.replace(decode(envelope), meta=None, body=Tombstone(id=ref)))
        for _, ref, envelope in rows
    ]
    await conn.execute(
        """
        UPDATE alicia_stanzas s
           SET envelope = t.envelope
          FROM unnest(%s::integer[], %s::bytea[]) AS t (stanza_id, envelope)
         WHERE s.conversation_id = %s
           AND s.stanza_id = t.stanza_id
        """,
        ([row[0] for row in rows], tombstones, conversation_id),
    )


async def fetch(conn: Connection, sql: LiteralString, **params: Any) -> list[tuple[Any, ...]]:
    cursor = await conn.execute(sql, params)
    return await cursor.fetchall()

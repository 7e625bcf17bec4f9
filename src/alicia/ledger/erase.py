"""The real erase: rows stay, emptied; envelopes become tombstones; meta, vectors and sound are gone."""

from typing import Any, LiteralString

import msgspec

from alicia.errors import NotFound
from alicia.ids import ConversationId
from alicia.ledger.notes import PENDING_ERASURE
from alicia.protocol.envelope import decode, encode
from alicia.protocol.messages import Tombstone
from alicia.storage.changes import announce
from alicia.storage.meta import user_ref
from alicia.storage.pool import Connection

ERASED_USER = "erased"
"""Whose the rows of an erased user are from then on."""

Erased = dict[ConversationId, list[str]]


async def erase_message(conn: Connection, owner: str, message_id: str) -> Erased:
    """A message, all that made it, and what was learned from it; NotFound if not this owner's."""
    async with conn.transaction():
        rows = await _all(
            conn,
            """
            SELECT c.id
              FROM alicia_messages m
              JOIN alicia_conversations c ON c.id = m.conversation_id
             WHERE m.id = %(id)s
               AND c.user_id = %(owner)s
               FOR UPDATE OF c
            """,
            id=message_id,
            owner=owner,
        )
        if not rows:
            raise NotFound(f"There is no message {message_id}.")
        conversation_id: ConversationId = rows[0][0]
        memories = await _learned_from(conn, owner, [message_id])
        erased: Erased = {conversation_id: await _empty_messages(conn, [message_id])}
        _add(erased, await _empty_memories(conn, owner, memories))
        # A rolling summary may repeat what was said.
        await conn.execute(
            "DELETE FROM alicia_meta WHERE ref = %s AND key LIKE 'summary%%'", (conversation_id,)
        )
        return await _finish(conn, erased)


async def erase_conversation(conn: Connection, owner: str, conversation_id: str) -> Erased:
    """All of a conversation, its title and settings too; NotFound if not this owner's."""
    async with conn.transaction():
        rows = await _all(
            conn,
            "SELECT id FROM alicia_conversations WHERE id = %(id)s AND user_id = %(owner)s FOR UPDATE",
            id=conversation_id,
            owner=owner,
        )
        if not rows:
            raise NotFound(f"There is no conversation {conversation_id}.")
        return await _finish(conn, await _empty_conversation(conn, owner, rows[0][0]))


async def erase_memory(conn: Connection, owner: str, memory_id: str) -> Erased:
    """A memory and every trace of its use; NotFound if not this owner's."""
    async with conn.transaction():
        rows = await _all(
            conn,
            "SELECT 1 FROM alicia_memory WHERE id = %(id)s AND created_by = %(owner)s FOR UPDATE",
            id=memory_id,
            owner=owner,
        )
        if not rows:
            raise NotFound(f"There is no memory {memory_id}.")
        return await _finish(conn, await _empty_memories(conn, owner, [memory_id]))


async def erase_user(conn: Connection, owner: str) -> Erased:
    """All that a user has, and the user's name in what is left."""
    async with conn.transaction():
        erased: Erased = {}
        rows = await _all(
            conn,
            "SELECT id FROM alicia_conversations WHERE user_id = %(owner)s ORDER BY id FOR UPDATE",
            owner=owner,
        )
        for row in rows:
            _add(erased, await _empty_conversation(conn, owner, row[0]))
        memories = await _all(conn, "SELECT id FROM alicia_memory WHERE created_by = %(owner)s", owner=owner)
        _add(erased, await _empty_memories(conn, owner, [row[0] for row in memories]))
        await _finish(conn, erased)
        for statement in (
            "DELETE FROM alicia_meta WHERE ref = %(ref)s",
            "UPDATE alicia_memory SET created_by = %(erased)s WHERE created_by = %(owner)s",
            """
            UPDATE alicia_user_conversation_commentaries
               SET created_by = %(erased)s
             WHERE created_by = %(owner)s
            """,
            "UPDATE alicia_conversations SET user_id = %(erased)s WHERE user_id = %(owner)s",
        ):
            await conn.execute(statement, {"ref": user_ref(owner), "owner": owner, "erased": ERASED_USER})
        return erased


async def pending(conn: Connection, conversation_id: str) -> list[str]:
    """The ids that were erased and of which the devices have not been told."""
    rows = await _all(
        conn,
        "SELECT value FROM alicia_meta WHERE ref = %(id)s AND key = %(key)s ORDER BY created_at, id",
        id=conversation_id,
        key=PENDING_ERASURE,
    )
    lists = [msgspec.json.decode(row[0], type=list[str]) for row in rows]
    return list(dict.fromkeys(erased for ids in lists for erased in ids))


async def _empty_conversation(conn: Connection, owner: str, conversation_id: ConversationId) -> Erased:
    messages = await _all(
        conn, "SELECT id FROM alicia_messages WHERE conversation_id = %(id)s", id=conversation_id
    )
    message_ids = [row[0] for row in messages]
    memories = await _learned_from(conn, owner, message_ids)
    emptied = await _empty_messages(conn, message_ids)
    emptied += await _empty_loose(conn, conversation_id)
    await conn.execute(
        """
        UPDATE alicia_conversations
           SET title = '', preferences = '{}', status = 'deleted',
               deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
         WHERE id = %s
        """,
        (conversation_id,),
    )
    await _forget_meta(conn, [conversation_id, *emptied])
    await _entomb(conn, conversation_id, None)
    erased: Erased = {conversation_id: [conversation_id]}
    _add(erased, await _empty_memories(conn, owner, memories))
    return erased


async def _empty_loose(conn: Connection, conversation_id: str) -> list[str]:
    """Notes on the conversation itself, and recordings that never became a message."""
    notes = await _all(
        conn,
        """
           UPDATE alicia_user_conversation_commentaries
              SET content = '', meta = '{}', deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
            WHERE conversation_id = %(id)s
        RETURNING id
        """,
        id=conversation_id,
    )
    sounds = await _all(
        conn,
        """
        SELECT DISTINCT ref
          FROM alicia_stanzas
         WHERE conversation_id = %(id)s
           AND ref ^@ 'aa_'
        """,
        id=conversation_id,
    )
    return [row[0] for row in notes] + await _empty_audio(conn, [row[0] for row in sounds])


async def _empty_messages(conn: Connection, message_ids: list[str]) -> list[str]:
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
    sounds = await _all(
        conn,
        """
        SELECT id FROM alicia_audio WHERE message_id = ANY(%(ids)s)
         UNION
        SELECT audio_id FROM alicia_messages WHERE id = ANY(%(ids)s) AND audio_id IS NOT NULL
        """,
        ids=message_ids,
    )
    emptied += await _empty_audio(conn, [row[0] for row in sounds])
    return list(dict.fromkeys(emptied))


async def _empty_audio(conn: Connection, audio_ids: list[str]) -> list[str]:
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


async def _learned_from(conn: Connection, owner: str, message_ids: list[str]) -> list[str]:
    """The memories that these messages made or changed, directly or in the answer to them."""
    rows = await _all(
        conn,
        """
        SELECT DISTINCT m.id
          FROM alicia_memory_used mu
          JOIN alicia_memory m ON m.id = mu.memory_id
         WHERE mu.message_id = ANY(%(ids)s)
           AND mu.action IN ('stored', 'updated')
           AND m.created_by = %(owner)s
        """,
        ids=message_ids,
        owner=owner,
    )
    return [row[0] for row in rows]


async def _empty_memories(conn: Connection, owner: str, memory_ids: list[str]) -> Erased:
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
    await _forget_meta(conn, memory_ids)
    traces = await _all(
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


async def _finish(conn: Connection, erased: Erased) -> Erased:
    """Take the meta and the envelopes of all that was emptied, and leave word for the agents."""
    for conversation_id, ids in erased.items():
        await _forget_meta(conn, ids)
        if conversation_id not in ids:
            await _entomb(conn, conversation_id, ids)
        await conn.execute(
            "INSERT INTO alicia_meta (ref, key, value) VALUES (%s, %s, %s)",
            (conversation_id, PENDING_ERASURE, msgspec.json.encode(ids).decode()),
        )
        await announce(conn, conversation_id)
    return erased


async def _forget_meta(conn: Connection, refs: list[str]) -> None:
    await conn.execute("DELETE FROM alicia_meta WHERE ref = ANY(%s)", (refs,))


async def _entomb(conn: Connection, conversation_id: str, refs: list[str] | None) -> None:
    """Leave of the envelopes about these ids (None: of all) their numbers, their type and one id."""
    rows = await _all(
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


def _add(erased: Erased, more: Erased) -> None:
    for conversation_id, ids in more.items():
        known = erased.setdefault(conversation_id, [])
        if conversation_id not in known:
            erased[conversation_id] = list(dict.fromkeys([*known, *ids]))


async def _all(conn: Connection, sql: LiteralString, **params: Any) -> list[tuple[Any, ...]]:
    cursor = await conn.execute(sql, params)
    return await cursor.fetchall()

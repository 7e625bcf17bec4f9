"""The real erase: rows stay, emptied; envelopes become tombstones; meta, vectors and sound are gone."""

import msgspec
from psycopg.types.json import Jsonb

from alicia.errors import NotFound
from alicia.ids import ConversationId
from alicia.ledger.emptying import (
    Erased,
    empty_late_traces,
    empty_loose,
    empty_memories,
    empty_messages,
    entomb,
    fetch,
    forget_meta,
)
from alicia.ledger.notes import PENDING_ERASURE
from alicia.storage.changes import announce
from alicia.storage.conversations import GIVEN_TITLE
from alicia.storage.meta import set_meta, user_ref
from alicia.storage.pool import Connection
from alicia.storage.summaries import MEMORY_TYPE

ERASED_USER = "erased"
"""Whose the rows of an erased user are from then on."""


async def erase_message(conn: Connection, owner: str, message_id: str) -> Erased:
    """A message, all that made it, and what was learned from it; NotFound if not this owner's."""
    async with conn.transaction():
        rows = await fetch(
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
        erased: Erased = {conversation_id: await empty_messages(conn, [message_id])}
        _add(erased, await _empty_retellings(conn, owner, conversation_id, [message_id]))
        return await _finish(conn, erased)


async def erase_conversation(conn: Connection, owner: str, conversation_id: str) -> Erased:
    """All of a conversation, its title and settings too; NotFound if not this owner's."""
    async with conn.transaction():
        rows = await fetch(
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
        rows = await fetch(
            conn,
            "SELECT 1 FROM alicia_memory WHERE id = %(id)s AND created_by = %(owner)s FOR UPDATE",
            id=memory_id,
            owner=owner,
        )
        if not rows:
            raise NotFound(f"There is no memory {memory_id}.")
        return await _finish(conn, await empty_memories(conn, owner, [memory_id]))


async def erase_user(conn: Connection, owner: str) -> Erased:
    """All that a user has, and the user's name in what is left."""
    async with conn.transaction():
        erased: Erased = {}
        rows = await fetch(
            conn,
            "SELECT id FROM alicia_conversations WHERE user_id = %(owner)s ORDER BY id FOR UPDATE",
            owner=owner,
        )
        for row in rows:
            _add(erased, await _empty_conversation(conn, owner, row[0]))
        memories = await fetch(conn, "SELECT id FROM alicia_memory WHERE created_by = %(owner)s", owner=owner)
        _add(erased, await empty_memories(conn, owner, [row[0] for row in memories]))
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


async def pending(conn: Connection, conversation_id: ConversationId) -> list[str]:
    """The ids that were erased and of which the devices have not been told.

    What the agent wrote to them before it heard of the erasure is erased too: ask when it has stopped.
    """
    async with conn.transaction():
        owners = await fetch(
            conn, "SELECT user_id FROM alicia_conversations WHERE id = %(id)s FOR UPDATE", id=conversation_id
        )
        waiting = await _waiting(conn, conversation_id)
        if not owners or not waiting:
            return []
        if conversation_id in waiting:
            await _empty_conversation(conn, owners[0][0], conversation_id)
        else:
            messages = [erased for erased in waiting if erased.startswith("am_")]
            if messages:
                late = await _empty_retellings(conn, owners[0][0], conversation_id, messages)
                own = late.pop(conversation_id, [])
                await _finish(conn, late)
                waiting = list(dict.fromkeys([*waiting, *await empty_messages(conn, messages), *own]))
            waiting += await empty_late_traces(conn, owners[0][0], conversation_id, waiting)
            await entomb(conn, conversation_id, waiting)
        await forget_meta(conn, waiting)
        await _leave_word(conn, conversation_id, waiting)
        return waiting


async def _waiting(conn: Connection, conversation_id: str) -> list[str]:
    rows = await fetch(
        conn,
        "SELECT value FROM alicia_meta WHERE ref = %(id)s AND key = %(key)s ORDER BY created_at, id",
        id=conversation_id,
        key=PENDING_ERASURE,
    )
    lists = [msgspec.json.decode(row[0], type=list[str]) for row in rows]
    return list(dict.fromkeys(erased for ids in lists for erased in ids))


async def _empty_conversation(conn: Connection, owner: str, conversation_id: ConversationId) -> Erased:
    messages = await fetch(
        conn, "SELECT id FROM alicia_messages WHERE conversation_id = %(id)s", id=conversation_id
    )
    message_ids = [row[0] for row in messages]
    memories = await _learned_from(conn, owner, message_ids)
    emptied = await empty_messages(conn, message_ids)
    emptied += await empty_loose(conn, conversation_id)
    await conn.execute(
        """
        UPDATE alicia_conversations
           SET title = '', preferences = '{}', status = 'deleted',
               deleted_at = coalesce(deleted_at, now() AT TIME ZONE 'utc')
         WHERE id = %s
        """,
        (conversation_id,),
    )
    await forget_meta(conn, [conversation_id, *emptied])
    await entomb(conn, conversation_id, None)
    erased: Erased = {conversation_id: [conversation_id]}
    _add(erased, await empty_memories(conn, owner, memories))
    return erased


async def _empty_retellings(
    conn: Connection, owner: str, conversation_id: ConversationId, message_ids: list[str]
) -> Erased:
    """Empty what may repeat these messages: lessons from them, and the conversation's summary and title."""
    memories = await _learned_from(conn, owner, message_ids)
    memories += await _summaries_of(conn, owner, conversation_id)
    await _forget_retellings(conn, conversation_id)
    return await empty_memories(conn, owner, memories)


async def _learned_from(conn: Connection, owner: str, message_ids: list[str]) -> list[str]:
    """The memories that these messages made or changed, directly or in the answer to them."""
    rows = await fetch(
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


async def _summaries_of(conn: Connection, owner: str, conversation_id: str) -> list[str]:
    """The rolling summary of a conversation, which may repeat what was said in any of its messages."""
    rows = await fetch(
        conn,
        """
        SELECT id
          FROM alicia_memory
         WHERE created_by = %(owner)s
           AND memory_type = %(memory_type)s
           AND source_info @> %(source)s
        """,
        owner=owner,
        memory_type=MEMORY_TYPE,
        source=Jsonb({"conversationId": conversation_id}),
    )
    return [row[0] for row in rows]


async def _forget_retellings(conn: Connection, conversation_id: str) -> None:
    """Take what may repeat a message: a summary outside of memory, a title that its owner did not give."""
    await conn.execute(
        """
        UPDATE alicia_conversations
           SET title = ''
         WHERE id = %(id)s
           AND title = (SELECT value FROM alicia_meta WHERE ref = %(id)s AND key = %(key)s)
        """,
        {"id": conversation_id, "key": GIVEN_TITLE},
    )
    await conn.execute(
        "DELETE FROM alicia_meta WHERE ref = %s AND (key LIKE 'summary%%' OR key = %s)",
        (conversation_id, GIVEN_TITLE),
    )


async def _finish(conn: Connection, erased: Erased) -> Erased:
    """Take the meta and the envelopes of all that was emptied, and leave word for the agents."""
    for conversation_id, ids in erased.items():
        await forget_meta(conn, ids)
        if conversation_id not in ids:
            await entomb(conn, conversation_id, ids)
        await _leave_word(conn, conversation_id, [*await _waiting(conn, conversation_id), *ids])
        await announce(conn, conversation_id)
    return erased


async def _leave_word(conn: Connection, conversation_id: str, ids: list[str]) -> None:
    await set_meta(conn, conversation_id, PENDING_ERASURE, list(dict.fromkeys(ids)))


def _add(erased: Erased, more: Erased) -> None:
    for conversation_id, ids in more.items():
        known = erased.setdefault(conversation_id, [])
        if conversation_id not in known:
            erased[conversation_id] = list(dict.fromkeys([*known, *ids]))

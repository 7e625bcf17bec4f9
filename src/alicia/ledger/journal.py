"""The journal: the bytes of every durable stanza, and the fence that lets one agent at a time add to it."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from alicia.ledger.batch import Batch, records
from alicia.protocol.envelope import Envelope
from alicia.protocol.messages import Body, Map, subject
from alicia.storage.pool import Connection, Pool, reaching

REPLAY_BATCH: Final = 2_000


def ref_of(envelope: Envelope) -> str:
    """The id under which the journal files an envelope: what it is about, or else the conversation."""
    body = envelope.body
    about = subject(body) if isinstance(body, Body) else body.id
    return about or envelope.conversation_id


def write_journal(
    batch: Batch,
    envelopes: Sequence[Envelope],
    data: Sequence[bytes],
    *,
    agent_id: str | None,
    client_stanza_id: int | None,
) -> None:
    """Move the conversation's counters and file the envelopes, first in a batch: the rest waits for it.

    The counter is the fencing token. When it has moved, or the lease is another agent's, no row is updated,
    the journal's rows lack their conversation, and NOT NULL undoes the whole append.
    """
    stanzas: list[Map] = [
        # msgspec writes bytes as base64.
        {"stanza_id": envelope.stanza_id, "type": envelope.type, "ref": ref_of(envelope), "envelope": stored}
        for envelope, stored in zip(envelopes, data, strict=True)
    ]
    # The echo of what the client sent comes first in an append.
    stanzas[0]["client_stanza_id"] = client_stanza_id
    batch.add(
        """
        WITH fence AS (
               UPDATE alicia_conversations
                  SET last_server_stanza_id = %(head)s,
                      last_client_stanza_id = greatest(last_client_stanza_id, %(client_stanza_id)s),
                      agent_id = coalesce(%(agent_id)s::text, agent_id),
                      agent_seen_at = CASE WHEN %(agent_id)s::text IS NULL THEN agent_seen_at
                                           ELSE now() AT TIME ZONE 'utc' END
                WHERE id = %(conversation_id)s
                  AND last_server_stanza_id = %(previous)s
                  AND (%(agent_id)s::text IS NULL OR agent_id IS NULL OR agent_id = %(agent_id)s)
            RETURNING id)
        INSERT INTO alicia_stanzas (conversation_id, stanza_id, type, ref, client_stanza_id, envelope)
        SELECT (SELECT id FROM fence), stanza_id, type, ref, client_stanza_id, decode(envelope, 'base64')
          FROM json_to_recordset(%(stanzas)s)
               AS stanza (stanza_id integer, type smallint, ref text, client_stanza_id integer, envelope text)
        """,
        {
            "conversation_id": envelopes[0].conversation_id,
            "previous": envelopes[0].previous_stanza_id,
            "head": envelopes[-1].stanza_id,
            "agent_id": agent_id,
            "client_stanza_id": client_stanza_id,
            "stanzas": records(stanzas),
        },
    )


async def journaled(
    conn: Connection, conversation_id: str, stanza_ids: Sequence[int]
) -> tuple[int | None, list[bytes]]:
    """The conversation's head (None: no such conversation), and the bytes stored under these numbers."""
    cursor = await conn.execute(
        """
        SELECT c.last_server_stanza_id, s.envelope
          FROM alicia_conversations c
          LEFT JOIN alicia_stanzas s ON s.conversation_id = c.id AND s.stanza_id = ANY(%s)
         WHERE c.id = %s
         ORDER BY s.stanza_id DESC
        """,
        (list(stanza_ids), conversation_id),
        binary=True,
    )
    rows = await cursor.fetchall()
    return (rows[0][0] if rows else None), [row[1] for row in rows if row[1] is not None]


async def replay(pool: Pool, conversation_id: str, after: int) -> AsyncGenerator[bytes]:
    """The envelopes after the durable stanza `after` (0: all), oldest first, as they were published.

    In batches by key, so that no connection is held while a slow device takes them.
    """
    while True:
        with reaching():
            async with pool.connection() as conn:
                cursor = await conn.execute(
                    """
                    SELECT stanza_id, envelope
                      FROM alicia_stanzas
                     WHERE conversation_id = %s
                       AND stanza_id < %s
                     ORDER BY stanza_id DESC
                     LIMIT %s
                    """,
                    (conversation_id, after, REPLAY_BATCH),
                    binary=True,
                )
                rows = await cursor.fetchall()
        for row in rows:
            yield row[1]
        if len(rows) < REPLAY_BATCH:
            return
        after = rows[-1][0]


async def missed(conn: Connection, conversation_id: str, after: int) -> int:
    """How many envelopes a replay from here has at least; more may be added while it runs."""
    cursor = await conn.execute(
        "SELECT count(*) FROM alicia_stanzas WHERE conversation_id = %s AND stanza_id < %s",
        (conversation_id, after),
    )
    row = await cursor.fetchone()
    return row[0] if row else 0

"""How much of interrupted answers was heard."""

from collections.abc import Sequence

from alicia.storage.pool import Connection


async def stops(conn: Connection, conversation_id: str, answers: Sequence[str], code: int) -> list[bytes]:
    """The envelopes of this type about these answers, oldest first."""
    cursor = await conn.execute(
        """
        SELECT envelope
          FROM alicia_stanzas
         WHERE conversation_id = %s
           AND type = %s
           AND ref = ANY(%s)
         ORDER BY stanza_id DESC
        """,
        (conversation_id, code, list(answers)),
    )
    return [row[0] for row in await cursor.fetchall()]


async def places(conn: Connection, sentences: Sequence[str]) -> dict[str, int]:
    """For each sentence, how many characters of its answer come before it."""
    cursor = await conn.execute(
        """
        SELECT s.id, coalesce(sum(length(b.text)), 0)::int
          FROM alicia_sentences s
          LEFT JOIN alicia_sentences b
                 ON b.message_id = s.message_id
                AND b.sentence_sequence_number < s.sentence_sequence_number
         WHERE s.id = ANY(%s)
         GROUP BY s.id
        """,
        (list(sentences),),
    )
    return {row[0]: row[1] for row in await cursor.fetchall()}

"""Conversations found by words of their titles and of all that was said in them."""

from typing import Final

from alicia.ids import MessageId
from alicia.storage.conversations import Conversation, Status
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all

MOST: Final = 2_000
"""How many messages with some of the words are ranked, the latest: a word that is everywhere tells little.
As many again that have all of them, however old."""


class FoundConversation(Conversation, frozen=True, kw_only=True):
    """A conversation, how well it fits, and the message that fits best, if one does."""

    rank: float
    message_id: MessageId | None
    snippet: str | None


async def find_conversations(
    conn: Connection,
    owner: str,
    query: str,
    *,
    status: Status | None = None,
    before: tuple[float, str] | None = None,
    limit: int = 50,
) -> list[FoundConversation]:
    """An owner's conversations with any of the words, best first; `before` is the last one's (rank, id).

    The last word may be the beginning of one, so that a search finds while it is being typed. A title that
    has the query as it stands counts most. Superseded messages are left out, deleted conversations too
    unless `status` asks for them.
    """
    rank, last_id = before or (None, None)
    return await fetch_all(
        conn,
        FoundConversation,
        """
        WITH words AS (
            SELECT to_tsquery('english', string_agg(quote_literal(word) || mark, ' | ')) AS sought,
                   to_tsquery('english', string_agg(quote_literal(word) || mark, ' & ')) AS all_sought
              FROM (SELECT word, CASE WHEN number = count(*) OVER () THEN ':*' ELSE '' END AS mark
                      FROM regexp_split_to_table(%(query)s, '[^[:alnum:]]+')
                           WITH ORDINALITY AS w (word, number)
                     WHERE word <> '') w),
        mine AS (
            SELECT *
              FROM alicia_conversations
             WHERE user_id = %(owner)s
               AND (%(status)s::text IS NULL AND deleted_at IS NULL OR status = %(status)s)),
        said AS (
            SELECT DISTINCT ON (m.conversation_id) m.conversation_id, m.id AS message_id, m.contents,
                   ts_rank(to_tsvector('english', m.contents), words.sought, 1)::float8 AS rank
              FROM words
              JOIN (VALUES (true), (false)) AS pass (has_all)
                ON NOT has_all OR words.all_sought::text <> words.sought::text
             CROSS JOIN LATERAL (
                   SELECT m.*
                     FROM alicia_messages m
                     JOIN mine ON mine.id = m.conversation_id
                    WHERE to_tsvector('english', m.contents)
                          @@ CASE WHEN has_all THEN words.all_sought ELSE words.sought END
                      AND m.completion_status = 'completed'
                      AND m.deleted_at IS NULL
                      AND m.superseded_by IS NULL
                    ORDER BY m.created_at DESC
                    LIMIT %(most)s) m
             ORDER BY m.conversation_id, rank DESC, m.sequence_number DESC),
        ranked AS (
            SELECT mine.*, said.message_id, said.contents, words.sought,
                   coalesce(said.rank, 0)
                   + coalesce(ts_rank(to_tsvector('english', mine.title), words.sought, 1)::float8, 0)
                   + (strpos(lower(mine.title), lower(%(query)s)) > 0)::int AS rank
              FROM mine
             CROSS JOIN words
              LEFT JOIN said ON said.conversation_id = mine.id)
        SELECT id, user_id, livekit_room_name, title, status, preferences, last_client_stanza_id,
               last_server_stanza_id, agent_id, agent_seen_at, created_at, updated_at, deleted_at, rank,
               message_id,
               ts_headline('english', left(contents, 100000), sought,
                           'StartSel="", StopSel="", MaxWords=30, MinWords=12, MaxFragments=0') AS snippet
          FROM (SELECT *
                  FROM ranked
                 WHERE rank > 0
                   AND (%(rank)s::float8 IS NULL OR (rank, id) < (%(rank)s::float8, %(last_id)s))
                 ORDER BY rank DESC, id DESC
                 LIMIT %(limit)s) page
         ORDER BY rank DESC, id DESC
        """,
        {
            "owner": owner,
            "query": query.strip(),
            "status": status,
            "rank": rank,
            "last_id": last_id,
            "limit": limit,
            "most": MOST,
        },
    )


async def is_erased(conn: Connection, conversation_id: str) -> bool:
    """Whether nothing is left of a deleted conversation: none of its messages can be read."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM alicia_conversations WHERE id = %(id)s AND status = 'deleted')
               AND NOT EXISTS (SELECT
                                 FROM alicia_messages
                                WHERE conversation_id = %(id)s
                                  AND deleted_at IS NULL)
        """,
        {"id": conversation_id},
    )
    row = await cursor.fetchone()
    return bool(row and row[0])

"""Full-text search over a user's own messages."""

from datetime import datetime

from msgspec import Struct

from alicia.ids import ConversationId, MessageId
from alicia.storage.messages import Role
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all


class MessageHit(Struct, frozen=True, kw_only=True):
    """A message that has some of the words; `excerpt` is all of it, or where the words are in a long one."""

    message_id: MessageId
    conversation_id: ConversationId
    title: str
    message_role: Role
    excerpt: str
    rank: float
    created_at: datetime


async def search_messages(
    conn: Connection, owner: str, query: str, *, without: str | None = None, limit: int = 10
) -> list[MessageHit]:
    """An owner's messages with any of the words, best first, latest first among equals.

    Superseded messages and deleted conversations are left out, and the message named by `without`: usually
    the question that led to the search.
    """
    return await fetch_all(
        conn,
        MessageHit,
        """
        SELECT hit.id AS message_id, hit.conversation_id, hit.title, hit.message_role,
               CASE WHEN length(hit.contents) <= 600 THEN hit.contents
                    ELSE ts_headline('english', hit.contents, hit.words,
                                     'StartSel="", StopSel="", MaxFragments=3, MaxWords=40, MinWords=15')
                     END AS excerpt,
               hit.rank, hit.created_at
          FROM (SELECT m.id, m.conversation_id, c.title, m.message_role, m.contents, m.created_at, q.words,
                       ts_rank(to_tsvector('english', m.contents), q.words, 1)::float8 AS rank
                  FROM (SELECT replace(plainto_tsquery('english', %(query)s)::text, ' & ', ' | ')::tsquery
                               AS words) q
                  JOIN alicia_messages m ON to_tsvector('english', m.contents) @@ q.words
                  JOIN alicia_conversations c ON c.id = m.conversation_id
                 WHERE m.completion_status = 'completed'
                   AND m.deleted_at IS NULL
                   AND m.superseded_by IS NULL
                   AND m.id IS DISTINCT FROM %(without)s
                   AND c.user_id = %(owner)s
                   AND c.deleted_at IS NULL
                 ORDER BY rank DESC, m.created_at DESC, m.id
                 LIMIT %(limit)s) hit
         ORDER BY hit.rank DESC, hit.created_at DESC, hit.id
        """,
        {"owner": owner, "query": query.replace("\0", " "), "without": without, "limit": limit},
    )

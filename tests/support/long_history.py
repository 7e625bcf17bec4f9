"""A conversation with a great many messages, made at once."""

import psycopg

from alicia import ids

ANSWER = """\
Answer {n}. The **short** version is here, with `code` in it, and the long one follows.

- first, look at what is there
- then change one thing
- and measure again

It depends on what you need: what is read often wants an index, what is written often wants none."""


def long_history(database_url: str, user: str, count: int) -> ids.ConversationId:
    """Store a conversation with this many messages; its id.

    The journal has their numbers, but no bytes: whoever reads it by pages never hears them again.
    """
    conversation_id = ids.new(ids.ConversationId)
    with psycopg.connect(database_url) as conn:
        conn.execute(
            """
            INSERT INTO alicia_conversations (id, user_id, livekit_room_name, title, last_server_stanza_id)
            VALUES (%(id)s, %(user)s, %(id)s, 'A long conversation', -2 * %(count)s)
            """,
            {"id": conversation_id, "user": user, "count": count},
        )
        conn.execute(
            """
            WITH said AS (
                SELECT m, 'am_' || substr(md5(%(id)s || m), 1, 21) AS id,
                       'am_' || substr(md5(%(id)s || m - 1), 1, 21) AS previous_id
                  FROM generate_series(1, %(count)s) AS m)
            INSERT INTO alicia_messages (id, conversation_id, sequence_number, previous_id, message_role,
                                         contents, completion_status)
            SELECT id, %(id)s, m, CASE WHEN m > 1 THEN previous_id END,
                   (CASE m %% 2 WHEN 1 THEN 'user' ELSE 'assistant' END)::message_role,
                   CASE m %% 2 WHEN 1 THEN 'Question ' || m ELSE replace(%(answer)s, '{n}', m::text) END,
                   'completed'
              FROM said
             ORDER BY m
            """,
            {"id": conversation_id, "count": count, "answer": ANSWER},
        )
        conn.execute(
            """
            INSERT INTO alicia_stanzas (conversation_id, stanza_id, type, ref, envelope)
            SELECT conversation_id, -2 * sequence_number, 2, id, ''
              FROM alicia_messages
             WHERE conversation_id = %s
            """,
            (conversation_id,),
        )
    return conversation_id

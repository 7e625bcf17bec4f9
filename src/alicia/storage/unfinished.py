"""What an agent that takes a conversation over has to finish."""

from msgspec import Struct

from alicia.ids import MessageId
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all


class Unfinished(Struct, frozen=True, kw_only=True):
    """A user's message without a closed answer; `answer_id` and what follows describe one that was begun."""

    message_id: MessageId
    answer_id: MessageId | None
    said: list[str]
    steps: int


async def unfinished(conn: Connection, conversation_id: str) -> list[Unfinished]:
    """In the order in which they were asked."""
    return await fetch_all(
        conn,
        Unfinished,
        """
        SELECT question.id AS message_id,
               answer.id AS answer_id,
               ARRAY(SELECT text
                       FROM alicia_sentences
                      WHERE message_id = answer.id
                      ORDER BY sentence_sequence_number) AS said,
               greatest((SELECT coalesce(max(sequence_number), 0)
                           FROM alicia_reasoning_steps
                          WHERE message_id = answer.id),
                        (SELECT coalesce(max(sequence_number), 0)
                           FROM alicia_tool_uses
                          WHERE message_id = answer.id)) AS steps
          FROM alicia_messages question
          LEFT JOIN alicia_messages answer
            ON answer.previous_id = question.id
           AND answer.message_role = 'assistant'
           AND answer.superseded_by IS NULL
         WHERE question.conversation_id = %s
           AND question.message_role = 'user'
           AND question.superseded_by IS NULL
           AND question.deleted_at IS NULL
           AND (answer.id IS NULL OR answer.completion_status IN ('pending', 'streaming'))
         ORDER BY question.sequence_number
        """,
        (conversation_id,),
    )

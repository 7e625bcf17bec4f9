"""What an agent that takes a conversation over has to finish."""

from collections.abc import Sequence

from msgspec import Struct

from alicia.ids import MessageId
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all
from alicia.storage.tools import ToolUse


class Unfinished(Struct, frozen=True, kw_only=True):
    """A user's message whose answer is not closed."""

    message_id: MessageId
    answer_id: MessageId | None
    """Of an answer that was begun, or that was asked for under this id."""
    begun: bool
    supersedes: MessageId | None
    stopped: bool
    """It only wants closing: somebody stopped it, or its branch was left."""
    superseded: bool
    said: list[str]
    steps: int


async def unfinished(conn: Connection, conversation_id: str) -> list[Unfinished]:
    """In the order in which they were asked, first those that only want closing."""
    return await fetch_all(
        conn,
        Unfinished,
        """
        WITH open AS (
             SELECT question.id AS message_id, answer.id AS answer_id, TRUE AS begun, NULL AS supersedes,
                    EXISTS (SELECT
                              FROM alicia_meta
                             WHERE ref IN (answer.id, question.id)
                               AND key = 'stopType'
                               AND value IN ('generation', 'all')
                               AND created_at >= answer.created_at) AS stopped,
                    answer.superseded_by IS NOT NULL OR question.superseded_by IS NOT NULL
                    OR question.deleted_at IS NOT NULL AS superseded,
                    question.sequence_number
               FROM alicia_messages answer
               JOIN alicia_messages question ON question.id = answer.previous_id
              WHERE answer.conversation_id = %(conversation_id)s
                AND answer.message_role = 'assistant'
                AND answer.completion_status IN ('pending', 'streaming')
              UNION ALL
             SELECT question.id, planned.superseded_by, FALSE, planned.id,
                    EXISTS (SELECT
                              FROM alicia_meta
                             WHERE ref = coalesce(planned.superseded_by, question.id)
                               AND key = 'stopType'
                               AND value IN ('generation', 'all')),
                    FALSE, question.sequence_number
               FROM alicia_messages question
               LEFT JOIN LATERAL (
                    SELECT id, superseded_by
                      FROM alicia_messages former
                     WHERE previous_id = question.id
                       AND message_role = 'assistant'
                       AND superseded_by IS NOT NULL
                       AND NOT EXISTS (SELECT FROM alicia_messages WHERE id = former.superseded_by)
                     ORDER BY sequence_number DESC
                     LIMIT 1) planned ON TRUE
              WHERE question.conversation_id = %(conversation_id)s
                AND question.message_role = 'user'
                AND question.superseded_by IS NULL
                AND question.deleted_at IS NULL
                AND NOT EXISTS (SELECT
                                  FROM alicia_messages answer
                                 WHERE answer.previous_id = question.id
                                   AND answer.message_role = 'assistant'
                                   AND answer.superseded_by IS NULL))
        SELECT message_id, answer_id, begun, supersedes, stopped OR superseded AS stopped, superseded,
               ARRAY(SELECT text
                       FROM alicia_sentences
                      WHERE message_id = open.answer_id
                      ORDER BY sentence_sequence_number) AS said,
               greatest((SELECT coalesce(max(sequence_number), 0)
                           FROM alicia_reasoning_steps
                          WHERE message_id = open.answer_id),
                        (SELECT coalesce(max(sequence_number), 0)
                           FROM alicia_tool_uses
                          WHERE message_id = open.answer_id)) AS steps
          FROM open
         ORDER BY stopped OR superseded DESC, sequence_number
        """,
        {"conversation_id": conversation_id},
    )


async def uses_of_answers(conn: Connection, answer_ids: Sequence[str]) -> list[ToolUse]:
    """The tool uses of answers that were begun, in their order."""
    return await fetch_all(
        conn,
        ToolUse,
        """
        SELECT id, conversation_id, message_id, tool_name, tool_arguments, tool_result, status, error_message,
               sequence_number, completed_at, created_at, updated_at
          FROM alicia_tool_uses
         WHERE message_id = ANY(%s)
           AND deleted_at IS NULL
         ORDER BY message_id, sequence_number
        """,
        (list(answer_ids),),
    )

"""The writes of messages and sentences: rows of `alicia_messages` and `alicia_sentences`."""

from alicia.ledger.batch import Batch, json, writes
from alicia.ledger.entries import Nothing, Spoken
from alicia.protocol.messages import (
    AssistantMessage,
    AssistantSentence,
    ControlStop,
    ControlVariation,
    StartAnswer,
    UserMessage,
    fields,
)


@writes(UserMessage)
def write_user_message(batch: Batch, body: UserMessage, _: Nothing) -> None:
    """A completed message; without `previous_id` it follows the newest message that is not superseded."""
    if body.supersedes:
        supersede(batch, body.conversation_id, target_id=body.supersedes, new_id=body.id)
    batch.add(
        """
        INSERT INTO alicia_messages (id, conversation_id, sequence_number, previous_id, message_role,
                                     contents, local_id, server_id, sync_status, synced_at,
                                     completion_status, audio_id)
        SELECT %(id)s, %(conversation_id)s, coalesce(max(sequence_number), 0) + 1,
               coalesce(%(previous_id)s,
                        (SELECT id
                           FROM alicia_messages
                          WHERE conversation_id = %(conversation_id)s
                            AND superseded_by IS NULL
                            AND deleted_at IS NULL
                          ORDER BY sequence_number DESC
                          LIMIT 1)),
               'user', %(content)s, %(local_id)s, %(id)s,
               %(sync_status)s, now() AT TIME ZONE 'utc', 'completed', %(audio_id)s
          FROM alicia_messages
         WHERE conversation_id = %(conversation_id)s
        """,
        fields(body) | {"sync_status": "conflict" if body.local_id else "synced"},
    )
    batch.add(
        """
        UPDATE alicia_conversations
           SET status = 'active'
         WHERE id = %(conversation_id)s
           AND status = 'archived'
        """,
        fields(body),
    )
    if body.audio_id:
        batch.add(
            """
            UPDATE alicia_audio
               SET message_id = %(id)s
             WHERE id = %(audio_id)s
               AND message_id IS NULL
            """,
            fields(body),
        )
    batch.note(body.id, timestamp=body.timestamp)


@writes(StartAnswer)
def write_start_answer(batch: Batch, body: StartAnswer, _: Nothing) -> None:
    """An empty message that is streaming, visible at once.

    It may be late: if by now another answer is asked for, which is not begun yet, or its question is
    superseded, then it is superseded as well.
    """
    if body.supersedes:
        supersede(batch, body.conversation_id, target_id=body.supersedes, new_id=body.id, rivals=False)
    batch.add(
        """
        INSERT INTO alicia_messages (id, conversation_id, sequence_number, previous_id, message_role,
                                     contents, server_id, synced_at, completion_status, superseded_by)
        SELECT %(id)s, %(conversation_id)s, coalesce(max(sequence_number), 0) + 1, %(previous_id)s,
               'assistant', '', %(id)s, now() AT TIME ZONE 'utc', 'streaming',
               coalesce((SELECT superseded_by FROM alicia_messages WHERE id = %(previous_id)s),
                        (SELECT superseded_by
                           FROM alicia_messages former
                          WHERE previous_id = %(previous_id)s
                            AND superseded_by <> %(id)s
                            AND NOT EXISTS (SELECT FROM alicia_messages WHERE id = former.superseded_by)
                          ORDER BY sequence_number DESC
                          LIMIT 1))
          FROM alicia_messages
         WHERE conversation_id = %(conversation_id)s
        """,
        fields(body),
    )
    batch.note(body.id, answerType=body.answer_type)


@writes(AssistantSentence, Spoken)
def write_sentence(batch: Batch, body: AssistantSentence, private: Spoken) -> None:
    """A sentence that is streaming until its answer closes; the message's contents grow by its text."""
    batch.add(
        """
        INSERT INTO alicia_sentences (id, message_id, sentence_sequence_number, text, meta, completion_status)
        VALUES (%(id)s, %(previous_id)s, %(sequence)s, %(text)s, %(meta)s, 'streaming')
        """,
        fields(body) | {"meta": json(private.meta)},
    )
    batch.add(
        """
        UPDATE alicia_messages
           SET contents = contents || %(text)s
         WHERE id = %(previous_id)s
           AND conversation_id = %(conversation_id)s
        """,
        # Sentences bring their own white space, or none in languages that have none between them.
        fields(body),
    )
    if body.is_final:
        status = body.status or "completed"
        close(batch, body.conversation_id, body.previous_id, status)
        batch.note(body.id, isFinal=True, status=body.status)


@writes(AssistantMessage)
def write_assistant_message(batch: Batch, body: AssistantMessage, _: Nothing) -> None:
    """The whole answer: completes the message that StartAnswer made, or makes it."""
    batch.add(
        """
        INSERT INTO alicia_messages (id, conversation_id, sequence_number, previous_id, message_role,
                                     contents, server_id, synced_at, completion_status)
        SELECT %(id)s, %(conversation_id)s, coalesce(max(sequence_number), 0) + 1, %(previous_id)s,
               'assistant', %(content)s, %(id)s, now() AT TIME ZONE 'utc', 'streaming'
          FROM alicia_messages
         WHERE conversation_id = %(conversation_id)s
            ON CONFLICT (id) DO UPDATE
           SET contents = excluded.contents
         WHERE alicia_messages.conversation_id = excluded.conversation_id
        """,
        fields(body),
    )
    close(batch, body.conversation_id, body.id, body.status)


@writes(ControlStop)
def write_stop(batch: Batch, body: ControlStop, _: Nothing) -> None:
    """Meta of the stopped message, and of the sentence how much of it was heard; the texts never change.

    Where an answer that was being said ends there, its sentences after that are marked as unspoken.
    """
    batch.note(
        body.target_id,
        stopType=body.stop_type,
        reason=body.reason,
        sentenceId=body.sentence_id,
        heardCharacters=body.heard_characters,
    )
    if body.sentence_id:
        batch.note(body.sentence_id, stopType=body.stop_type, heardCharacters=body.heard_characters)
    if body.stop_type == "all" and body.heard_characters is not None:
        batch.add(
            """
            UPDATE alicia_sentences
               SET meta = meta || '{"unspoken": true}'
             WHERE message_id = %(target_id)s
               AND text <> ''
               AND sentence_sequence_number > coalesce(
                     (SELECT sentence_sequence_number
                        FROM alicia_sentences
                       WHERE id = %(sentence_id)s), 0)
            """,
            fields(body),
        )


@writes(ControlVariation)
def write_variation(batch: Batch, body: ControlVariation, _: Nothing) -> None:
    """What is replaced names the message that replaces it, which may be written later, or never: then what
    replaces it in its turn takes its place."""
    batch.add(
        """
        UPDATE alicia_messages m
           SET superseded_by = %(id)s
          FROM alicia_messages target
         WHERE target.id = %(target_id)s
           AND target.conversation_id = %(conversation_id)s
           AND m.conversation_id = %(conversation_id)s
           AND m.superseded_by = target.superseded_by
           AND NOT EXISTS (SELECT FROM alicia_messages WHERE id = target.superseded_by)
        """,
        fields(body),
    )
    supersede(batch, body.conversation_id, target_id=body.target_id, new_id=body.id)
    batch.note(body.id, mode=body.mode)


def supersede(
    batch: Batch, conversation_id: str, *, target_id: str, new_id: str, rivals: bool = True
) -> None:
    """End the branch that begins with the target: it and all that came after it, unless that is done already.

    Only one branch is ever live, so what is live and comes after the target hangs on it or on its rival. An
    answer comes right after its question, whatever was asked before it began.
    Without `rivals`, a target that is superseded already is left to whatever superseded it.
    """
    batch.add(
        """
        UPDATE alicia_messages m
           SET superseded_by = %(new_id)s
          FROM alicia_messages target
          LEFT JOIN alicia_messages asked
            ON asked.id = target.previous_id
           AND target.message_role = 'assistant'
         WHERE target.id = %(target_id)s
           AND target.conversation_id = %(conversation_id)s
           AND target.superseded_by IS DISTINCT FROM %(new_id)s
           AND (%(rivals)s OR target.superseded_by IS NULL)
           AND m.conversation_id = %(conversation_id)s
           AND m.sequence_number >= coalesce(asked.sequence_number, target.sequence_number)
           AND m.id IS DISTINCT FROM asked.id
           AND NOT EXISTS (SELECT
                             FROM alicia_messages question
                            WHERE question.id = m.previous_id
                              AND m.message_role = 'assistant'
                              AND question.sequence_number
                                  < coalesce(asked.sequence_number, target.sequence_number))
           AND m.superseded_by IS NULL
           AND m.id <> %(new_id)s
        """,
        {"conversation_id": conversation_id, "target_id": target_id, "new_id": new_id, "rivals": rivals},
    )


def close(batch: Batch, conversation_id: str, message_id: str, status: str) -> None:
    """Complete an answer and its sentences; that it was stopped is in its meta."""
    params = {
        "conversation_id": conversation_id,
        "message_id": message_id,
        "completion_status": "failed" if status == "failed" else "completed",
    }
    batch.add(
        """
        UPDATE alicia_messages
           SET completion_status = %(completion_status)s
         WHERE id = %(message_id)s
           AND conversation_id = %(conversation_id)s
        """,
        params,
    )
    batch.add(
        """
        UPDATE alicia_sentences
           SET completion_status = %(completion_status)s
         WHERE message_id = %(message_id)s
           AND completion_status = 'streaming'
        """,
        params,
    )
    if status == "stopped":
        batch.note(message_id, status=status)

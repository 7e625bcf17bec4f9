"""The writes of what users say about a conversation, and of what they took out of it."""

from typing import Final

from alicia.ledger.batch import Batch, json, writes
from alicia.ledger.entries import Nothing
from alicia.protocol.messages import Erasure, UserNote, fields

PENDING_ERASURE: Final = "erasure.pending"
"""The conversation's meta key under which an erasure waits until an agent has told the devices."""


@writes(UserNote)
def write_note(batch: Batch, body: UserNote, _: Nothing) -> None:
    """A row of `alicia_user_conversation_commentaries`, by the conversation's owner."""
    batch.add(
        """
        INSERT INTO alicia_user_conversation_commentaries (id, content, conversation_id, message_id,
                                                           created_by, meta)
        SELECT %(id)s, %(content)s, id, %(message_id)s, user_id, %(meta)s
          FROM alicia_conversations
         WHERE id = %(conversation_id)s
        """,
        fields(body) | {"meta": json(body.metadata or {})},
    )
    batch.note(body.id, noteType=body.note_type)


@writes(Erasure)
def write_erasure(batch: Batch, body: Erasure, _: Nothing) -> None:
    """The devices will hear of it: what waited for that is done."""
    batch.add(
        """
        DELETE FROM alicia_meta
         WHERE ref = %(conversation_id)s
           AND key = %(key)s
           AND value::jsonb <@ %(ids)s
        """,
        {"conversation_id": body.conversation_id, "key": PENDING_ERASURE, "ids": json(body.ids)},
    )

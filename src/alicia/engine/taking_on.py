"""Reading a conversation back: what was said, for the prompt, and what its last agent left unfinished."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from alicia import ids
from alicia.engine.prompt import Turn
from alicia.engine.tool_words import LONGEST_NOTE, MOST_NOTES, note, quoted
from alicia.engine.turn import Question
from alicia.protocol.envelope import decode
from alicia.protocol.messages import ControlStop
from alicia.storage.heard import places, stops
from alicia.storage.messages import history
from alicia.storage.meta import meta_of
from alicia.storage.pool import Connection
from alicia.storage.tools import use_notes
from alicia.storage.unfinished import unfinished, uses_of_answers
from alicia.telemetry.tracing import Context

TURNS: Final = 500
"""How many messages are read back for the prompt."""


async def read_turns(conn: Connection, owner: str, conversation_id: ids.ConversationId) -> list[Turn]:
    """The newest messages that hold, each answer with notes on the tools that it used."""
    page = await history(conn, owner, conversation_id, limit=TURNS)
    messages = page.messages if page else []
    answers = [each.id for each in messages if each.message_role != "user"]
    used = await use_notes(conn, answers, longest=LONGEST_NOTE, most=MOST_NOTES)
    notes = {
        answer_id: "\n".join(note(use.tool_name, use.arguments, quoted(use.result)) for use in uses)
        for answer_id, uses in groupby(used, lambda use: use.message_id)
    }
    heard = await _heard(conn, conversation_id, answers)
    return [
        Turn(
            id=each.id,
            role="user" if each.message_role == "user" else "assistant",
            text=each.contents,
            previous_id=each.previous_id,
            used=notes.get(each.id, ""),
            heard=heard.get(each.id),
            at=each.created_at,
        )
        for each in messages
    ]


async def _heard(
    conn: Connection, conversation_id: ids.ConversationId, answers: Sequence[str]
) -> dict[str, int]:
    """How many characters of the answers that somebody talked into were heard."""
    envelopes = await stops(conn, conversation_id, answers, ControlStop.CODE)
    bodies = [decode(data).body for data in envelopes]
    told = [body for body in bodies if isinstance(body, ControlStop) and body.stop_type == "all"]
    cut = [body for body in told if body.heard_characters is not None]
    before = await places(conn, [body.sentence_id for body in cut if body.sentence_id])
    return {
        body.target_id: before.get(body.sentence_id or "", 0) + (body.heard_characters or 0) for body in cut
    }


async def read_questions(conn: Connection, conversation_id: ids.ConversationId) -> list[Question]:
    """What wants an answer, or only its end."""
    pending = await unfinished(conn, conversation_id)
    uses = await uses_of_answers(conn, [each.answer_id for each in pending if each.begun and each.answer_id])
    traces = await _traces(conn, [each.message_id for each in pending])
    return [
        Question(
            message_id=each.message_id,
            trace=traces.get(each.message_id),
            answer_id=each.answer_id or ids.new(ids.MessageId),
            supersedes=each.supersedes,
            begun=each.begun,
            stopped=each.stopped,
            superseded=each.superseded,
            said=tuple(each.said),
            steps=each.steps,
            uses=tuple(use for use in uses if use.message_id == each.answer_id),
        )
        for each in pending
    ]


async def _traces(conn: Connection, message_ids: Sequence[str]) -> dict[str, Context | None]:
    """Where the traces of messages that were traced go on."""
    noted = await meta_of(conn, *message_ids) if message_ids else []
    return {
        ref: Context.of({row.key: row.value for row in rows})
        for ref, rows in groupby(noted, lambda row: row.ref)
    }

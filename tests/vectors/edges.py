"""Envelopes at the edge of what is allowed, which every reader must understand as well."""

from typing import Any

from alicia.protocol import messages as m
from alicia.protocol.envelope import Envelope
from vectors.valid import ANSWER, CONVERSATION, NOTE, QUESTION, TOOL_USE, as_map, common, envelope


def edges() -> dict[str, Envelope]:
    """The edges of what is allowed."""
    c = CONVERSATION
    return {
        "Tombstone of a UserMessage": Envelope(
            stanza_id=-4, previous_stanza_id=-2, conversation_id=c, type=2, body=m.Tombstone(id=QUESTION)
        ),
        "Tombstone of a ToolUseResult": Envelope(
            stanza_id=-8, previous_stanza_id=-7, conversation_id=c, type=7, body=m.Tombstone(id=TOOL_USE)
        ),
        "The first durable stanza": envelope(
            -2, m.StartAnswer(conversation_id=c, id=ANSWER, previous_id=QUESTION), previous=0
        ),
        "The last stanza of a client": envelope(
            2**31 - 1, m.UserNote(conversation_id=c, id=NOTE, content="the end")
        ),
        "The last stanza of an agent": envelope(
            -(2**31) + 1, m.Erasure(conversation_id=c, ids=[]), previous=-(2**31) + 2
        ),
        "Meta of every kind": envelope(
            3,
            m.UserMessage(conversation_id=c, id=QUESTION, content="x" * 300),
            meta={
                "nil": None,
                "no": False,
                "integers": [0, 127, 128, -32, -33, 65_536, -(2**31), 2**53 - 1],
                "float": -0.1,
                "nested": {"list": [[], {}, [[1]]], "": "an empty key"},
            },
        ),
    }


def aliased() -> dict[str, tuple[dict[str, Any], Envelope]]:
    """The other spellings of seed 000, and fields from the future: what is sent, and what it means."""
    known = common()
    trace = as_map(known["MemoryTrace"])
    trace["body"]["messageId"] = trace["body"].pop("previousId")
    trace["body"]["relevance"] = trace["body"].pop("confidence")
    chunk = as_map(known["AudioChunk of a spoken sentence"])
    chunk["body"]["duration"] = chunk["body"].pop("durationMs")
    future = as_map(known["UserMessage"])
    future["priority"] = [1, {"deep": None}]
    future["body"]["mood"] = {"joy": 1}
    return {
        "MemoryTrace with messageId and relevance": (trace, known["MemoryTrace"]),
        "AudioChunk with duration": (chunk, known["AudioChunk of a spoken sentence"]),
        "Fields from the future": (future, known["UserMessage"]),
    }

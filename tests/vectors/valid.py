"""Envelopes that every reader must understand."""

from typing import Any

import msgpack

from alicia import ids
from alicia.protocol import messages as m
from alicia.protocol.envelope import Envelope, encode

CONVERSATION = ids.ConversationId("ac_k9mX2pL7qR3vN5pQ8tYzW")
QUESTION = ids.MessageId("am_7gH4mN9pL2kR6vT5xB8wZ")
ANSWER = ids.MessageId("am_9vT2kL5pR8mN4xB7wZ3qH")
SENTENCE = ids.SentenceId("ams_3nQ5kL8pR7mV2tY9xC6wH")
AUDIO = ids.AudioId("aa_2nP5kL8pR7mV2tY9xC6wH")
TOOL_USE = ids.ToolUseId("atu_4xQ7kL2pR9mV5tY3wB8nH")
STEP = ids.ReasoningStepId("ar_8mQ5nL7pR3kV2tY9xB6wH")
MEMORY = ids.MemoryId("amem_8nQ5kL7pR2mV9tY3xB6wH")
MEMORY_USE = ids.MemoryUseId("amu_4xT7kL9pR3mN5wB2vZ8qH")
NOTE = ids.NoteId("aucc_5vT8kL3pR2mN7xB4wZ9qH")

TRACE: m.Map = {
    "messaging.trace_id": "0af7651916cd43dd8448eb211c80319c",
    "messaging.span_id": "b7ad6b7169203331",
    "otel_span": "b7ad6b7169203331",
    "otel_span_counter": 4,
    "timestamp": "2026-02-03T04:05:06.789Z",
}


def envelope(
    stanza_id: int, body: m.Body, previous: int | None = None, meta: m.Map | None = None
) -> Envelope:
    return Envelope(
        stanza_id=stanza_id,
        previous_stanza_id=previous,
        conversation_id=body.conversation_id,
        type=body.CODE,
        meta=meta,
        body=body,
    )


def as_map(envelope: Envelope) -> dict[str, Any]:
    return msgpack.unpackb(encode(envelope))


def common() -> dict[str, Envelope]:
    """Every type as it commonly looks."""
    c = CONVERSATION
    return {
        "AssistantSentence with trace meta": envelope(
            -9,
            m.AssistantSentence(
                conversation_id=c,
                id=SENTENCE,
                previous_id=ANSWER,
                sequence=2,
                text="Since you like Italian food, try the little trattoria by the canal; it opens at seven.",
                is_final=False,
            ),
            previous=-8,
            meta=TRACE,
        ),
        "ErrorMessage 103": envelope(
            -12,
            m.ErrorMessage(
                conversation_id=c,
                code=103,
                message="stanza 5 is taken or too far ahead",
                severity="error",
                recoverable=True,
                originating_id=QUESTION,
                originating_stanza_id=5,
                next_stanza_id=13,
            ),
        ),
        "UserMessage": envelope(
            3,
            m.UserMessage(
                conversation_id=c,
                id=QUESTION,
                previous_id=ANSWER,
                content="What restaurants should I visit?",
                timestamp="2026-02-03T04:05:01.000Z",
            ),
            meta={"source": "keyboard"},
        ),
        "UserMessage echoed after a conflict": envelope(
            -4,
            m.UserMessage(
                conversation_id=c,
                id=ANSWER,
                previous_id=QUESTION,
                content="Grüße, 世界 🌍",
                local_id=QUESTION,
            ),
            previous=-2,
        ),
        "UserMessage from a voice": envelope(
            -6,
            m.UserMessage(conversation_id=c, id=QUESTION, content="hello", audio_id=AUDIO, supersedes=ANSWER),
            previous=-5,
        ),
        "AssistantMessage": envelope(
            -8,
            m.AssistantMessage(
                conversation_id=c,
                id=ANSWER,
                previous_id=QUESTION,
                content="The little trattoria by the canal is the best choice.",
                status="completed",
            ),
            previous=-7,
            meta={"model": "qwen2.5-coder-1.5b", "responseTime": "123ms"},
        ),
        "ControlStop from a client": envelope(
            7, m.ControlStop(conversation_id=c, target_id=ANSWER, stop_type="all", reason="the user spoke")
        ),
        "ControlStop of the agent": envelope(
            -11,
            m.ControlStop(
                conversation_id=c,
                target_id=ANSWER,
                stop_type="speech",
                sentence_id=SENTENCE,
                heard_characters=17,
            ),
            previous=-9,
        ),
        "ReasoningStep": envelope(
            -6,
            m.ReasoningStep(
                conversation_id=c,
                id=STEP,
                message_id=ANSWER,
                sequence=1,
                content="The user asks for restaurants; their city and tastes are known from memory.",
            ),
            previous=-5,
            meta=TRACE,
        ),
        "ToolUseRequest": envelope(
            -7,
            m.ToolUseRequest(
                conversation_id=c,
                id=TOOL_USE,
                message_id=ANSWER,
                sequence=2,
                tool_name="web_search",
                parameters={
                    "query": "trattoria near canal",
                    "limit": 5,
                    "filters": {"open": True, "stars": [4, 5]},
                },
                execution="server",
                timeout_ms=20_000,
            ),
            previous=-6,
            meta=TRACE,
        ),
        "ToolUseRequest for one device": envelope(
            -7,
            m.ToolUseRequest(
                conversation_id=c,
                id=TOOL_USE,
                message_id=ANSWER,
                sequence=2,
                tool_name="location",
                parameters={},
                execution="client",
                device="phone",
            ),
            previous=-6,
        ),
        "ToolUseResult": envelope(
            -8,
            m.ToolUseResult(
                conversation_id=c,
                request_id=TOOL_USE,
                success=True,
                result={"hits": [{"title": "Da Mario", "score": 0.875}, {"title": "Canale", "score": -1.5}]},
                truncated=True,
            ),
            previous=-7,
            meta=TRACE,
        ),
        "ToolUseResult that failed on the client": envelope(
            9,
            m.ToolUseResult(
                conversation_id=c,
                request_id=TOOL_USE,
                success=False,
                error_code=304,
                error_message="no position within 20 s",
            ),
        ),
        "Acknowledgement": envelope(
            -5,
            m.Acknowledgement(
                conversation_id=c,
                acknowledged_stanza_id=3,
                last_server_stanza_id=-4,
                id=QUESTION,
                sync_status="synced",
            ),
        ),
        "Acknowledgement of a conflict": envelope(
            -5,
            m.Acknowledgement(
                conversation_id=c,
                acknowledged_stanza_id=3,
                last_server_stanza_id=-4,
                id=QUESTION,
                server_id=ANSWER,
                sync_status="conflict",
            ),
        ),
        "Acknowledgement that states the head": envelope(
            -300, m.Acknowledgement(conversation_id=c, acknowledged_stanza_id=0, last_server_stanza_id=-256)
        ),
        "Transcription, interim": envelope(
            -4, m.Transcription(conversation_id=c, id=AUDIO, text="what rest", final=False)
        ),
        "Transcription, final": envelope(
            -5,
            m.Transcription(
                conversation_id=c,
                id=AUDIO,
                previous_id=ANSWER,
                text="What restaurants should I visit?",
                final=True,
                confidence=0.93,
                language="en",
                track_sid="TR_AMabcdefghijkl",
            ),
            previous=-3,
            meta=TRACE,
        ),
        "AudioChunk of a spoken sentence": envelope(
            -10,
            m.AudioChunk(
                conversation_id=c,
                id=SENTENCE,
                message_id=ANSWER,
                track_sid="TR_AMabcdefghijkl",
                format="pcm_s16le_24000",
                duration_ms=3_140,
                sequence=2,
            ),
            previous=-9,
            meta=TRACE,
        ),
        "AudioChunk with a recorded clip": envelope(
            5,
            m.AudioChunk(
                conversation_id=c,
                id=AUDIO,
                format="opus_48000",
                duration_ms=20,
                sequence=0,
                is_last=True,
                data=bytes(range(256)),
            ),
        ),
        "ControlVariation, edit": envelope(
            5,
            m.ControlVariation(
                conversation_id=c, id=QUESTION, target_id=ANSWER, mode="edit", content="And which bars?"
            ),
        ),
        "ControlVariation, regenerate": envelope(
            -6,
            m.ControlVariation(conversation_id=c, id=ANSWER, target_id=QUESTION, mode="regenerate"),
            previous=-4,
        ),
        "Configuration that opens a conversation": envelope(
            1,
            m.Configuration(
                client_version="alicia-web 0.1.0",
                preferred_language="en",
                device="tab-1",
                features=["streaming", "voice"],
                tools=[
                    {"name": "location", "description": "Where the device is", "schema": {"type": "object"}}
                ],
            ),
        ),
        "Configuration that opens with nothing said": envelope(1, m.Configuration()),
        "Configuration that resumes": envelope(
            1, m.Configuration(conversation_id=c, last_sequence_seen=-42, device="phone")
        ),
        "Configuration that answers": envelope(
            -2,
            m.Configuration(
                conversation_id=c,
                preferences={"voice": {"speed": 1.25}, "language": None},
                resumed=True,
                missed=17,
                last_client_stanza_id=41,
                last_server_stanza_id=-42,
                title="Restaurants by the canal",
                status="active",
            ),
        ),
        "StartAnswer": envelope(
            -4,
            m.StartAnswer(conversation_id=c, id=ANSWER, previous_id=QUESTION, answer_type="text"),
            previous=-2,
            meta=TRACE,
        ),
        "MemoryTrace": envelope(
            -5,
            m.MemoryTrace(
                conversation_id=c,
                id=MEMORY_USE,
                previous_id=QUESTION,
                memory_id=MEMORY,
                memory_type="profile",
                action="retrieved",
                content="User is located in New York and prefers local restaurant recommendations",
                confidence=0.92,
                metadata={"tags": ["location", "user_profile"], "source": "user_profile", "answerId": ANSWER},
            ),
            previous=-4,
            meta=TRACE,
        ),
        "UserNote": envelope(
            11,
            m.UserNote(
                conversation_id=c,
                id=NOTE,
                message_id=ANSWER,
                content="Went there: excellent.",
                note_type="feedback",
                metadata={"stars": 5},
            ),
        ),
        "AssistantSentence, final and empty": envelope(
            -10,
            m.AssistantSentence(
                conversation_id=c,
                id=SENTENCE,
                previous_id=ANSWER,
                sequence=0,
                text="",
                is_final=True,
                status="stopped",
            ),
            previous=-9,
        ),
        "Erasure": envelope(-13, m.Erasure(conversation_id=c, ids=[QUESTION, SENTENCE, AUDIO]), previous=-11),
    }

"""A turn that leaves something in every table."""

from typing import NamedTuple

from alicia import ids
from alicia.ledger.entries import Entry, Outcome, Recalled, Recording, Spoken
from alicia.protocol.messages import (
    AudioChunk,
    ToolUseResult,
    Transcription,
)
from alicia.storage.memories import Embedding, NewMemory
from alicia.storage.meta import set_meta, user_ref
from alicia.telemetry.first_token import FirstToken
from support.talk import Talk

TABLES = (
    "alicia_conversations",
    "alicia_messages",
    "alicia_sentences",
    "alicia_audio",
    "alicia_memory",
    "alicia_memory_used",
    "alicia_tool_uses",
    "alicia_reasoning_steps",
    "alicia_user_conversation_commentaries",
    "alicia_meta",
    "alicia_stanzas",
)


class Turn(NamedTuple):
    """The ids of a question, its answer, and the memory that was made of it."""

    asked: ids.MessageId
    answer: ids.MessageId
    memory: ids.MemoryId


async def whole_turn(talk: Talk, word: str) -> Turn:
    """An exchange about this word, and the word in what is kept beside it: the user's voice, a summary."""
    turn = await exchange(talk, word)
    async with talk.pool.connection() as conn:
        await set_meta(conn, user_ref(talk.user), "voice", word)
        await set_meta(conn, talk.id, "summary", word)
    return turn


async def exchange(talk: Talk, word: str) -> Turn:
    """A spoken question, thought about, answered with a tool, remembered and noted, all about this word."""
    first = FirstToken()
    first.ask()
    first.come()
    audio_id, memory_id = ids.new(ids.AudioId), ids.new(ids.MemoryId)
    asked = talk.user_message(f"My {word}.", audio_id=audio_id)
    answer = talk.start_answer(asked.id)
    spoken = talk.sentence(answer, 1, f"Your {word}.", final=True)
    request = talk.tool_use(answer.id, 2, "search", parameters={"q": word})
    trace = talk.memory_use(
        asked.id, memory_id, "stored", f"Has a {word}", metadata={"answerId": answer.id, "word": word}
    )
    memory = NewMemory(
        content=f"Has a {word}",
        tags=[word],
        source_info={"said": word},
        embedding=Embedding(model="mini", vector=[0.1 * number for number in range(1, 9)]),
    )
    clip = AudioChunk(conversation_id=talk.id, id=audio_id, message_id=asked.id, format="pcm", duration_ms=9)
    chunk = AudioChunk(conversation_id=talk.id, id=spoken.id, format="pcm", duration_ms=9)
    step = talk.thought(answer.id, 1, f"They said {word}.")
    note = talk.note(answer.id, f"A {word}!", metadata={"word": word})
    result = ToolUseResult(conversation_id=talk.id, request_id=request.id, success=True, result=word)
    recalled = Recalled(
        query_prompt=word,
        query_prompt_meta={"q": word},
        similarity_score=1 / 3,
        meta={"q": word},
        memory=memory,
    )
    await talk.append(
        Transcription(conversation_id=talk.id, id=audio_id, text=f"My {word}.", final=True),
        Entry(asked, {"source": word}),
        Entry(clip, None, Recording(data=word.encode() * 500)),
        answer,
        Entry(trace, None, recalled),
        step,
        request,
        Entry(result, None, Outcome(result={"all": word})),
        Entry(spoken, {"note": word, **(first.meta() or {})}, Spoken(meta={"word": word})),
        Entry(chunk, None, Recording(data=word.encode() * 700, meta={"note": word})),
        note,
    )
    return Turn(asked.id, answer.id, memory_id)

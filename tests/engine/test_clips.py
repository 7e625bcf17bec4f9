"""Recorded clips while the way to PostgreSQL is cut."""

import asyncio
from types import SimpleNamespace
from typing import cast

from alicia import ids
from alicia.engine.clips import Clips
from alicia.engine.services import Services
from alicia.engine.talk import Talk, Utterance
from alicia.engine.voice import Transcript, Wishes
from alicia.protocol.messages import AudioChunk
from alicia.storage.pool import make_pool
from support.proxy import Cut, wire_to


class Transcriber:
    """Hears what is written in the file."""

    async def transcribe(self, sound: bytes, language: str | None) -> Transcript:
        return Transcript(text=sound.decode())


class Listening:
    """A conversation as far as clips know it; its user wants nothing to be kept as sound."""

    wishes = Wishes(recording=False)

    def __init__(self) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(self, utterance: Utterance, recording: bytes) -> None:
        self.heard.put_nowait(utterance.text)


def clip(words: str) -> AudioChunk:
    return AudioChunk(
        conversation_id=ids.new(ids.ConversationId),
        id=ids.new(ids.AudioId),
        format="audio/wav",
        duration_ms=900,
        data=words.encode(),
    )


async def test_a_clip_waits_for_a_database_that_is_away(database_url: str) -> None:
    async with wire_to(database_url) as (wire, url), make_pool(url, max_size=1) as pool:
        talk = Listening()
        services = cast("Services", SimpleNamespace(pool=pool, transcriber=Transcriber()))
        clips = Clips(services, cast("Talk", talk))
        wire.cut(b"SELECT audio_data", Cut.BEFORE)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(clips.run())
            for words in ("It was the age of wisdom.", "It was the age of foolishness."):
                chunk = clip(words)
                clips.accept(chunk)
                clips.stored(chunk, "ada:phone")
            async with asyncio.timeout(30):
                heard = [await talk.heard.get() for _ in range(2)]
            running.cancel()

        assert not wire.pending
    assert heard == ["It was the age of wisdom.", "It was the age of foolishness."]

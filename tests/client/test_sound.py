"""Speaking and listening through the SDK."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from livekit import rtc
from livekit.rtc.participant import PublishTrackError

from alicia.client import Conversation
from alicia.client.sound import Sound
from alicia.errors import AliciaError
from alicia.protocol.messages import AssistantSentence, UserMessage
from alicia.speech.segments import RATE
from alicia.speech.sound import wav
from support.rooms import participant
from support.scripted.senses import tone
from support.servers import LiveKitServer
from support.speech import Person, age_of_wisdom
from support.stack import Stack

from .conftest import Connect

VOICE = ("streaming", "voice")


async def spoken_to(conversation: Conversation) -> UserMessage:
    async with aclosing(conversation.events()) as events:
        return await anext(event async for event in events if isinstance(event, UserMessage))


async def test_a_program_says_a_file_and_hears_the_answer(
    stack: Stack, connect: Connect, tmp_path: Path
) -> None:
    stack.model.say("So it was.", when="age of", always=True)
    path = tmp_path / "question.wav"
    path.write_bytes(wav(age_of_wisdom(), RATE))
    async with connect(features=VOICE) as conversation, aclosing(conversation.listen()) as sound:
        await conversation.speak(path)
        message = await spoken_to(conversation)
        loud = await anext(
            piece async for piece in sound if np.abs(np.frombuffer(piece, np.int16)).max() > 3000
        )
    # From the first word on; how well a busy machine understands the last one is not the matter here.
    assert message.content.startswith("It was the age of")
    assert len(loud) == 2 * 480


async def test_a_program_says_samples_as_they_come(stack: Stack, connect: Connect) -> None:
    async def microphone() -> AsyncIterator[bytes]:
        speech = age_of_wisdom()
        for start in range(0, len(speech), 3200):
            yield speech[start : start + 3200]

    stack.model.say("So it was.", when="age of", always=True)
    async with connect() as conversation, aclosing(conversation.events()) as events:
        await conversation.speak(microphone(), rate=RATE)
        answer = await anext(event async for event in events if isinstance(event, AssistantSentence))
    assert answer.text == "So it was."


@asynccontextmanager
async def heard(livekit: LiveKitServer, room: str, sound: Sound) -> AsyncGenerator[Person]:
    """Speak in a room where somebody listens."""
    async with participant(livekit, room, "agent") as agent, participant(livekit, room, "user:a") as user:
        listener = Person(agent)
        sound.enter(user.room)
        yield listener
        await sound.leave()


async def test_a_microphone_that_the_room_does_not_take_is_offered_again(
    livekit: LiveKitServer, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish, refused = rtc.LocalParticipant.publish_track, list[str]()

    async def refuse(each: rtc.LocalParticipant, *arguments: Any) -> rtc.LocalTrackPublication:
        if each.identity == "user:a" and not refused:
            refused.append(each.identity)
            raise PublishTrackError("track publication timed out")
        return await publish(each, *arguments)

    monkeypatch.setattr(rtc.LocalParticipant, "publish_track", refuse)
    sound = Sound()
    async with heard(livekit, room, sound) as listener:
        speaking = asyncio.create_task(sound.speak(wav(tone(20 * "."), 24_000), RATE))
        await listener.hears_her()
        await speaking
    assert refused


async def test_what_is_being_said_when_a_room_is_lost_goes_on_in_the_next_one(
    livekit: LiveKitServer, room: str
) -> None:
    sound = Sound()
    speaking = asyncio.create_task(sound.speak(wav(tone(160 * "."), 24_000), RATE))
    async with heard(livekit, room, sound) as listener:
        await listener.hears_her()
    async with heard(livekit, f"{room}-next", sound) as listener:
        await asyncio.wait_for(speaking, 30)
        await listener.hears_silence()
    seconds = (np.abs(listener.heard) > 300).reshape(-1, 240).any(axis=1).sum() / 100
    assert seconds > 2


async def test_samples_that_come_in_odd_pieces_are_said_without_gaps(
    livekit: LiveKitServer, room: str
) -> None:
    async def microphone() -> AsyncIterator[bytes]:
        speech = tone(40 * ".")
        for start in range(0, len(speech), 500):
            yield speech[start : start + 500]
        yield b""

    sound = Sound()
    async with heard(livekit, room, sound) as listener:
        await asyncio.wait_for(sound.speak(microphone(), 24_000), 30)
        await listener.hears_silence()
    # Two seconds of sound, however long a busy machine pauses; gaps in every frame would make it four.
    assert 150 < (np.abs(listener.heard) > 300).reshape(-1, 240).any(axis=1).sum() < 340


async def test_what_is_no_sound_is_not_said(connect: Connect) -> None:
    async with connect() as conversation:
        with pytest.raises(AliciaError, match="WAV"):
            await conversation.speak(b"noise")

"""Speaking and listening through the SDK."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest

from alicia.client import Conversation
from alicia.errors import AliciaError
from alicia.protocol.messages import AssistantSentence, UserMessage
from alicia.speech.segments import RATE
from alicia.speech.sound import wav
from support.speech import age_of_wisdom
from support.stack import Stack

from .conftest import Connect

VOICE = ("streaming", "voice")


async def spoken_to(conversation: Conversation) -> UserMessage:
    async with aclosing(conversation.events()) as events:
        return await anext(event async for event in events if isinstance(event, UserMessage))


async def test_a_program_says_a_file_and_hears_the_answer(
    stack: Stack, connect: Connect, tmp_path: Path
) -> None:
    stack.model.say("So it was.", when="age of")
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

    stack.model.say("So it was.", when="age of")
    async with connect() as conversation, aclosing(conversation.events()) as events:
        await conversation.speak(microphone(), rate=RATE)
        answer = await anext(event async for event in events if isinstance(event, AssistantSentence))
    assert answer.text == "So it was."


async def test_what_is_no_sound_is_not_said(connect: Connect) -> None:
    async with connect() as conversation:
        with pytest.raises(AliciaError, match="WAV"):
            await conversation.speak(b"noise")

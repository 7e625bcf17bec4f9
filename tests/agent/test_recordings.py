"""Recorded clips when their agent, or what should hear them, is gone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from alicia import ids
from alicia.engine.clips import UNFINISHED
from alicia.protocol.messages import AudioChunk, ErrorMessage, Transcription, UserMessage
from alicia.speech.segments import RATE
from alicia.speech.sound import wav
from alicia.storage.audio import unheard_clips
from alicia.storage.pool import Pool
from support.device import Device, device
from support.scripted import Fail, Hang
from support.servers import LiveKitServer
from support.speech import age_of_wisdom
from support.stack import Stack
from support.tables import records

pytestmark = [pytest.mark.timeout(180), pytest.mark.xdist_group("takeover")]


@pytest.fixture
def own_speech_stack(tmp_path: Path, database_url: str, livekit: LiveKitServer) -> Iterator[Stack]:
    """An API and an agent that this test may kill, with scripted speech."""
    with Stack(tmp_path, database_url, livekit, scripted_speech=True) as opened:
        yield opened


async def send_clip(phone: Device, *, whole: bool = True) -> ids.AudioId:
    """Send a spoken sentence in two parts, or only the first of them."""
    audio_id, sound = ids.new(ids.AudioId), wav(age_of_wisdom(), RATE)
    half = len(sound) // 2
    for number, part in enumerate((sound[:half], sound[half:])[: 2 if whole else 1], 1):
        await phone.submit(
            AudioChunk(
                conversation_id=phone.id,
                id=audio_id,
                format="audio/wav",
                duration_ms=900,
                sequence=number,
                is_last=number == 2,
                data=part,
            )
        )
    return audio_id


async def test_a_clip_that_its_agent_did_not_come_to_is_heard_by_the_next_one(
    own_speech_stack: Stack, user: str, pool: Pool
) -> None:
    stack = own_speech_stack
    stack.model.fail("transcriptions", step=Hang())
    async with device(stack, user) as phone:
        audio_id = await send_clip(phone)
        await stack.model.arrived(1, route="transcriptions")
        stack.model.hear("It was the age of wisdom.")
        stack.replace_agent()
        await phone.until(lambda: phone.all(UserMessage), 90)
        (message,) = phone.all(UserMessage)
        await phone.answered(message)

    (row,) = await records(pool, "SELECT * FROM alicia_audio WHERE id = %s", audio_id)
    assert (message.content, message.audio_id) == ("It was the age of wisdom.", audio_id)
    assert (row["transcription"], row["message_id"]) == (message.content, message.id)


@pytest.mark.parametrize(("step", "times"), [(Fail(), 2), (Fail(200), 1)], ids=["error", "nonsense"])
async def test_a_clip_that_nobody_could_make_out_is_left_to_its_sender(
    scripted_stack: Stack, user: str, pool: Pool, step: Fail, times: int
) -> None:
    scripted_stack.model.fail("transcriptions", times=times, step=step)
    async with device(scripted_stack, user) as phone:
        half = await send_clip(phone, whole=False)
        lost = await send_clip(phone)
        error = await phone.hears(ErrorMessage)
        settled = await phone.hears(Transcription, lambda body: body.id == lost)
        async with pool.connection() as conn:
            unheard = await unheard_clips(conn, phone.id)

    assert error.code == 503
    assert (settled.text, settled.final) == ("", True)
    assert half not in unheard
    assert unheard == []
    assert not phone.all(UserMessage)


async def test_clips_that_nobody_finishes_do_not_keep_others_out(scripted_stack: Stack, user: str) -> None:
    scripted_stack.model.hear("It was the age of wisdom.")
    async with device(scripted_stack, user) as phone:
        for _ in range(UNFINISHED):
            await send_clip(phone, whole=False)
        whole = await send_clip(phone)
        message = await phone.hears(UserMessage)
        await phone.answered(message)

    assert message.audio_id == whole

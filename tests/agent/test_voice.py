"""Speaking with Alicia: what is heard, what is said, and what is stored of both."""

from datetime import datetime

import numpy as np
from msgspec.structs import replace

from alicia import ids
from alicia.protocol.messages import (
    AssistantSentence,
    AudioChunk,
    ErrorMessage,
    StartAnswer,
    Transcription,
    UserMessage,
)
from alicia.speech.moonshine import Moonshine
from alicia.speech.recogniser import words
from alicia.speech.segments import RATE
from alicia.speech.sound import Recorder, decode, wav
from alicia.storage.pool import Pool
from support.device import device
from support.speech import Person, age_of_wisdom, is_wisdom, word_errors
from support.stack import Stack
from support.tables import records

VOICE = ("streaming", "voice")
EVEREST = "The tallest mountain in the world is Mount Everest. It stands on a border."


async def test_a_spoken_question_is_stored_and_answered_aloud(stack: Stack, user: str, pool: Pool) -> None:
    stack.model.say(EVEREST, always=True)
    async with device(stack, user, features=VOICE) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom())
        message = await phone.hears(UserMessage)
        start = await phone.hears(StartAnswer)
        await phone.closed(start.id)
        sentences = phone.all(AssistantSentence)
        aloud = {each.id for each in sentences if each.text}
        await phone.until(lambda: aloud <= {each.id for each in phone.all(AudioChunk)})
        await person.hears_silence()

    told = [each.body for each in phone.heard]
    interims = [each for each in told if isinstance(each, Transcription) and not each.final]
    (final,) = phone.all(Transcription)
    assert interims
    assert {each.id for each in interims} == {final.id} == {message.audio_id}
    assert message.content == final.text
    assert is_wisdom(final.text)
    assert (final.language, final.track_sid is not None) == ("en", True)
    assert final.confidence is not None
    assert 0.5 < final.confidence <= 1
    assert [type(each) for each in phone.bodies[:4]] == [Transcription, UserMessage, AudioChunk, StartAnswer]

    (row,) = await records(pool, "SELECT * FROM alicia_audio WHERE id = %s", final.id)
    assert (row["audio_type"], row["message_id"], row["transcription"]) == ("input", message.id, final.text)
    assert row["livekit_track_sid"] == final.track_sid
    assert row["audio_format"] == "audio/ogg; codecs=opus"
    assert row["duration_ms"] >= 1_500
    known, sure = (datetime.fromisoformat(row["transcription_meta"][name]) for name in ("knownAt", "sureAt"))
    assert known <= sure
    assert row["transcription_meta"]["model"] == "moonshine-tiny-en"
    spoken = await records(
        pool,
        "SELECT * FROM alicia_sentences WHERE message_id = %s AND audio_data IS NOT NULL ORDER BY 1",
        start.id,
    )
    assert {each["id"] for each in spoken} == aloud
    assert all(each["audio_bytesize"] == len(each["audio_data"]) for each in spoken)
    assert all(each["meta"]["wantedAt"] <= each["meta"]["soundedAt"] for each in spoken)

    recogniser = Moonshine()
    again = await recogniser.recognise(decode(row["audio_data"]))
    said = {each["text"].strip(): each["audio_data"] for each in spoken}
    back = [(text, await recogniser.recognise(decode(data))) for text, data in said.items()]
    await recogniser.aclose()
    assert is_wisdom(again.text)
    assert all(word_errors(text, heard.text) <= 0.05 for text, heard in back)
    assert np.abs(person.heard).max() > 3000


async def test_the_answer_begins_before_the_turn_is_sure_and_only_once(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.say(EVEREST, always=True)
    async with device(stack, user, features=VOICE) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom())
        message = await phone.hears(UserMessage)
        await phone.answered(message)

    said = words(message.content)
    asked = [each for each in stack.model.chats if words(each.user_text)[-len(said) :] == said]
    stored = await records(pool, "SELECT id FROM alicia_messages WHERE conversation_id = %s", phone.id)
    assert len(asked) == 1
    assert len(stored) == 2
    assert "".join(each.text for each in phone.all(AssistantSentence)) == EVEREST


async def test_a_recorded_clip_is_heard_like_speech(stack: Stack, user: str, pool: Pool) -> None:
    recorder = Recorder(RATE)
    recorder.write(age_of_wisdom())
    clip, audio_id = recorder.close(), ids.new(ids.AudioId)
    third = len(clip) // 3
    async with device(stack, user) as phone:
        for number, part in enumerate((clip[:third], clip[third : 2 * third], clip[2 * third :]), 1):
            await phone.submit(
                AudioChunk(
                    conversation_id=phone.id,
                    id=audio_id,
                    format="audio/ogg; codecs=opus",
                    duration_ms=1_000,
                    sequence=number,
                    is_last=number == 3,
                    data=part,
                )
            )
        message = await phone.hears(UserMessage)
        await phone.answered(message)

    (row,) = await records(pool, "SELECT * FROM alicia_audio WHERE id = %s", audio_id)
    assert message.audio_id == audio_id
    assert is_wisdom(message.content)
    assert (row["message_id"], row["transcription"]) == (message.id, message.content)
    assert (row["audio_data"], row["duration_ms"]) == (clip, 3_000)
    assert all(each.data is None for each in phone.all(AudioChunk))


async def test_a_clip_that_is_no_sound_is_refused_and_one_without_words_is_no_message(
    stack: Stack, user: str
) -> None:
    async with device(stack, user) as phone:
        noise, silence = ids.new(ids.AudioId), ids.new(ids.AudioId)
        chunk = AudioChunk(conversation_id=phone.id, id=noise, format="?", duration_ms=1, data=b"noise")
        await phone.submit(chunk)
        error = await phone.hears(ErrorMessage)
        await phone.submit(replace(chunk, id=silence, data=wav(bytes(32_000), RATE)))
        heard = await phone.hears(Transcription, lambda body: body.id == silence)

    assert (error.code, error.originating_id) == (104, noise)
    assert (heard.text, heard.final) == ("", True)
    assert not phone.all(UserMessage)

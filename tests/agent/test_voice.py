"""Speaking with Alicia: what is heard, what is said, and what is stored of both."""

import numpy as np

from alicia.protocol.messages import AssistantSentence, AudioChunk, StartAnswer, Transcription, UserMessage
from alicia.speech.moonshine import Moonshine
from alicia.speech.sound import decode
from alicia.storage.pool import Pool
from support.device import device
from support.speech import BEST_OF_TIMES, Person, best_of_times, word_errors
from support.stack import Stack
from support.tables import records

VOICE = ("streaming", "voice")
EVEREST = "The tallest mountain in the world is Mount Everest. It stands on a border."


async def test_a_spoken_question_is_stored_and_answered_aloud(stack: Stack, user: str, pool: Pool) -> None:
    stack.model.say(EVEREST)
    async with device(stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        await person.take_microphone()
        await person.say(best_of_times())
        message = await phone.hears(UserMessage)
        start = await phone.hears(StartAnswer)
        await phone.closed(start.id)
        sentences = phone.all(AssistantSentence)
        await phone.hears(AudioChunk, lambda chunk: chunk.id == sentences[-1].id)
        await person.hears_silence()

    told = [each.body for each in phone.heard]
    interims = [each for each in told if isinstance(each, Transcription) and not each.final]
    (final,) = phone.all(Transcription)
    assert interims
    assert {each.id for each in interims} == {final.id} == {message.audio_id}
    assert message.content == final.text
    assert word_errors(BEST_OF_TIMES, final.text) <= 0.1
    assert (final.language, final.track_sid is not None) == ("en", True)
    assert [type(each) for each in phone.bodies[:4]] == [Transcription, UserMessage, AudioChunk, StartAnswer]

    (row,) = await records(pool, "SELECT * FROM alicia_audio WHERE id = %s", final.id)
    assert (row["audio_type"], row["message_id"], row["transcription"]) == ("input", message.id, final.text)
    assert row["livekit_track_sid"] == final.track_sid
    assert row["transcription_meta"]["model"] == "moonshine-tiny-en"
    spoken = await records(
        pool,
        "SELECT * FROM alicia_sentences WHERE message_id = %s AND audio_data IS NOT NULL ORDER BY 1",
        start.id,
    )
    assert {each["id"] for each in spoken} == {each.id for each in sentences if each.text}
    assert all(each["audio_bytesize"] == len(each["audio_data"]) for each in spoken)

    recogniser = Moonshine()
    again = await recogniser.recognise(decode(row["audio_data"]))
    said = {each["text"].strip(): each["audio_data"] for each in spoken}
    back = [(text, await recogniser.recognise(decode(data))) for text, data in said.items()]
    await recogniser.aclose()
    assert word_errors(final.text, again.text) <= 0.05
    assert all(word_errors(text, heard.text) <= 0.05 for text, heard in back)
    assert np.abs(person.heard).max() > 3000


async def test_the_answer_begins_before_the_turn_is_sure_and_only_once(
    stack: Stack, user: str, pool: Pool
) -> None:
    stack.model.say(EVEREST, when="worst of times")
    async with device(stack, user, features=VOICE) as phone:
        person = Person(phone.room)
        await person.take_microphone()
        await person.say(best_of_times())
        message = await phone.hears(UserMessage)
        await phone.answered(message)

    asked = [each for each in stack.model.chats if each.user_text.endswith(message.content)]
    stored = await records(pool, "SELECT id FROM alicia_messages WHERE conversation_id = %s", phone.id)
    assert len(asked) == 1
    assert len(stored) == 2
    assert "".join(each.text for each in phone.all(AssistantSentence)) == EVEREST

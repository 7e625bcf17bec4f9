"""Alicia's mouth on a track where the test makes time pass: what sounds, and how much counts as heard."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

from livekit import rtc

from alicia import ids
from alicia.agent.clip import FRAME
from alicia.agent.mouth import QUEUE_MS, Mouth
from alicia.engine.voice import Reached, Wishes
from alicia.errors import ModelUnavailable
from alicia.protocol.messages import AssistantSentence
from alicia.protocol.values import Map
from alicia.speech.synthesiser import RATE, Manner

CHARACTER = RATE // 20
"""Samples that the scripted voice takes for a character."""
FOUR = "Four is the number of seasons."
FIVE = " Five is the number of fingers."


class Track:
    """LiveKit's end: it holds what it is given until the test lets it sound."""

    def __init__(self) -> None:
        self.sounded = b""
        self._queue: list[bytes] = []
        self._changed = asyncio.Condition()

    @property
    def queued_duration(self) -> float:
        return len(self._queue) * FRAME / RATE

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        self._queue.append(bytes(frame.data))
        async with self._changed:
            self._changed.notify_all()
            await self._changed.wait_for(lambda: self.queued_duration * 1000 < QUEUE_MS)

    def clear_queue(self) -> None:
        self._queue.clear()

    async def sound(self, characters: int) -> None:
        """Let so many characters' worth of the sound be heard, as soon as it is there."""
        async with self._changed, asyncio.timeout(5):
            for _ in range(characters * CHARACTER // FRAME):
                await self._changed.wait_for(lambda: self._queue)
                self.sounded += self._queue.pop(0)
                self._changed.notify_all()
            self._changed.notify_all()


class Voice:
    """Says 50 ms for each character, of which every sample counts up, in pieces of 100 ms."""

    model = "scripted"
    cheap = True

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.going = asyncio.Event()
        self.going.set()

    async def speak(self, text: str, manner: Manner) -> AsyncGenerator[bytes, None]:
        self.asked.append(text)
        for number in range(0, len(text), 2):
            await self.going.wait()
            yield number.to_bytes(1, "little") + b"\x40" + b"\x00\x40" * (2 * CHARACTER - 1)


class Audience:
    def __init__(self) -> None:
        self.spoke: asyncio.Queue[str] = asyncio.Queue()

    async def spoken(
        self, sentence_id: ids.SentenceId, sound: bytes, duration_ms: int, track_sid: str, meta: Map
    ) -> None:
        self.spoke.put_nowait(sentence_id)

    async def voiceless(self, answer_id: ids.MessageId, error: ModelUnavailable) -> None:
        raise AssertionError(error)


class Stage:
    """A mouth that somebody listens to."""

    def __init__(self) -> None:
        self.track = Track()
        self.voice = Voice()
        self.audience = Audience()

        async def nothing(*_: object) -> Any:
            return SimpleNamespace(sid="TR_1", wait_for_subscription=nothing)

        room = SimpleNamespace(local_participant=SimpleNamespace(publish_track=nothing))
        self.mouth = Mouth(cast("rtc.Room", room), self.voice, self.audience)
        self.mouth.settle(Wishes(), listening=True)

    def say(self, *texts: str, answer_id: ids.MessageId | None = None) -> list[AssistantSentence]:
        said_in = answer_id or ids.new(ids.MessageId)
        sentences = [
            AssistantSentence(
                conversation_id=ids.new(ids.ConversationId),
                id=ids.new(ids.SentenceId),
                previous_id=said_in,
                sequence=number,
                text=text,
                is_final=False,
            )
            for number, text in enumerate(texts, 1)
        ]
        for sentence in sentences:
            self.mouth.say(sentence)
        return sentences

    async def settled(self) -> None:
        """Everything that can happen without time passing has happened."""
        for _ in range(200):
            await asyncio.sleep(0)


@asynccontextmanager
async def stage() -> AsyncGenerator[Stage]:
    made = Stage()
    running = asyncio.create_task(made.mouth.run())
    await made.settled()
    # Only now: the SDK makes a track of nothing but its own source.
    made.mouth.source = cast("rtc.AudioSource", made.track)
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.wait([running])


def reached(sentence: AssistantSentence, heard: str) -> Reached:
    return Reached(answer_id=sentence.previous_id, sentence_id=sentence.id, heard_characters=len(heard))


async def test_as_many_characters_count_as_heard_as_have_sounded() -> None:
    async with stage() as here:
        first, second = here.say(FOUR, FIVE)
        await here.track.sound(len(FOUR))
        assert here.mouth.hush() == reached(first, FOUR)
        first, second = here.say(FOUR, FIVE)
        here.track.sounded = b""
        await here.track.sound(len(f"{FOUR} Five is the "))
        assert here.mouth.hush() == reached(second, " Five is the")
        assert 0 <= len(here.track.sounded) / (2 * CHARACTER) - len(f"{FOUR} Five is the") < 2
        await here.settled()
        assert not here.track.queued_duration


async def test_an_answer_that_waits_for_its_next_sentence_was_heard_so_far() -> None:
    async with stage() as here:
        (only,) = here.say(FOUR)
        await here.track.sound(len(FOUR))
        await here.settled()
        assert not here.mouth.speaking
        assert here.mouth.hush(only.previous_id) == reached(only, FOUR)


async def test_an_answer_whose_next_sentence_is_being_made_was_heard_so_far() -> None:
    async with stage() as here:
        (first,) = here.say(FOUR)
        await here.track.sound(len(FOUR))
        here.voice.going.clear()
        here.say(FIVE, answer_id=first.previous_id)
        await here.settled()
        assert here.mouth.hush() == reached(first, FOUR)


async def test_what_was_said_to_its_end_is_not_interrupted_any_more() -> None:
    async with stage() as here:
        here.say(FOUR)
        await here.track.sound(len(FOUR))
        await here.settled()
        assert here.mouth.hush() is None
        here.say(FOUR)
        await here.track.sound(len(FOUR))
        await here.settled()
        assert here.mouth.hush(ids.new(ids.MessageId)) is None


async def test_an_old_answer_is_not_stopped_in_place_of_the_one_that_is_just_being_made() -> None:
    async with stage() as here:
        (old,) = here.say(FOUR)
        await here.track.sound(len(FOUR))
        here.voice.going.clear()
        here.say(FIVE)
        await here.settled()
        assert here.mouth.silence(old.previous_id) is None
        here.voice.going.set()
        await here.track.sound(len(FIVE.strip()))


async def test_silence_for_one_answer_leaves_the_one_that_sounds_alone() -> None:
    async with stage() as here:
        (sounding,), (waiting,) = here.say(FOUR), here.say(FIVE)
        await here.track.sound(8)
        assert here.mouth.silence(waiting.previous_id) is None
        await here.track.sound(len(FOUR) - 8)
        await here.settled()
        assert not here.mouth.speaking
        assert await here.audience.spoke.get() == sounding.id
        assert here.audience.spoke.empty()


async def test_an_answer_stays_silent_when_another_is_silenced_after_it() -> None:
    async with stage() as here:
        first, second = ids.new(ids.MessageId), ids.new(ids.MessageId)
        here.mouth.silence(first)
        here.mouth.silence(second)
        here.say(FOUR, answer_id=first)
        here.say(FIVE, answer_id=second)
        await here.settled()
        assert not here.mouth.speaking


async def test_silence_for_the_answer_that_sounds_tells_how_far_it_was_heard() -> None:
    async with stage() as here:
        first, _ = here.say(FOUR, FIVE)
        await here.track.sound(8)
        assert here.mouth.silence(first.previous_id) == reached(first, "Four is")
        await here.settled()
        assert not here.mouth.speaking


async def test_after_a_pause_nothing_is_lost_and_nothing_sounds_twice() -> None:
    async with stage() as here:
        here.say(FOUR)
        await here.track.sound(4)
        here.mouth.pause()
        here.mouth.resume()
        here.mouth.pause()
        await here.settled()
        assert not here.track.queued_duration
        here.mouth.resume()
        await here.track.sound(len(FOUR) - 4)
        whole = b"".join([piece async for piece in Voice().speak(FOUR, Manner())])
        assert here.track.sounded == whole


async def test_what_a_pause_takes_back_before_it_sounds_was_not_said() -> None:
    async with stage() as here:
        first, second = here.say(FOUR, FIVE)
        await here.track.sound(len(FOUR) - 1)
        await here.settled()
        queued = here.track.queued_duration
        here.mouth.pause()
        assert await here.audience.spoke.get() == first.id
        # So long it would have been until the last of that had sounded.
        await asyncio.sleep(queued)
        assert here.audience.spoke.empty()
        here.mouth.resume()
        await here.track.sound(1 + len(FIVE.strip()))
        assert await here.audience.spoke.get() == second.id


async def test_who_interrupts_between_two_sentences_does_not_hear_the_second() -> None:
    async with stage() as here:
        here.say(FOUR, FIVE)
        await here.track.sound(len(FOUR) - QUEUE_MS * RATE // 1000 // CHARACTER)
        await here.settled()
        # All that is left of the first waits on the track.
        here.mouth.pause()
        await here.track.sound(0)
        await here.settled()
        assert here.mouth.hush() is not None
        await here.settled()
        assert not here.track.queued_duration
        assert not here.mouth.speaking


async def test_who_interrupts_while_she_takes_up_her_words_again_hears_none_of_them() -> None:
    async with stage() as here:
        (only,) = here.say(FOUR)
        await here.track.sound(8)
        here.mouth.pause()
        here.mouth.resume()
        await asyncio.sleep(0)
        assert here.mouth.hush(only.previous_id) == reached(only, "Four is")
        await here.settled()
        assert not here.track.queued_duration
        assert not here.mouth.speaking


async def test_the_sound_of_a_first_sentence_is_made_ahead_and_only_once() -> None:
    async with stage() as here:
        answer_id = ids.new(ids.MessageId)
        here.mouth.foresee(FOUR)
        here.mouth.foresee(FOUR, answer_id)
        await here.settled()
        assert here.voice.asked == [FOUR]
        assert not here.track.queued_duration
        here.say(FOUR, FIVE, answer_id=answer_id)
        await here.track.sound(len(FOUR) + len(FIVE.strip()))
        assert here.voice.asked == [FOUR, FIVE.strip()]


async def test_a_foreseen_sentence_sounds_while_the_rest_of_it_is_made() -> None:
    async with stage() as here:
        here.voice.going.clear()
        answer_id = ids.new(ids.MessageId)
        here.mouth.foresee(FOUR, answer_id)
        here.say(FOUR, answer_id=answer_id)
        await here.settled()
        here.voice.going.set()
        await asyncio.sleep(0)
        await here.track.sound(len(FOUR))
        assert here.voice.asked == [FOUR]


async def test_what_was_foreseen_wrongly_is_not_said() -> None:
    async with stage() as here:
        here.mouth.foresee(FIVE)
        await here.settled()
        here.say(FOUR)
        await here.track.sound(len(FOUR))
        whole = b"".join([piece async for piece in Voice().speak(FOUR, Manner())])
        assert here.track.sounded == whole
        assert here.voice.asked == [FIVE.strip(), FOUR]


async def test_no_sound_is_kept_of_what_is_no_longer_foreseen() -> None:
    async with stage() as here:
        here.mouth.foresee(FOUR)
        await here.settled()
        here.mouth.foresee("")
        here.say(FOUR)
        await here.track.sound(len(FOUR))
        assert here.voice.asked == [FOUR, FOUR]


async def test_a_language_that_is_chosen_in_mid_answer_holds_from_the_next_sentence_on() -> None:
    async with stage() as here:
        (first,) = here.say("It is 5 km.")
        await here.settled()
        here.mouth.settle(Wishes(language="de"), listening=True)
        here.say(" Es sind 5 km.", answer_id=first.previous_id)
        await here.settled()
        assert here.voice.asked == ["It is 5 kilometres.", "Es sind 5 km."]


async def test_nothing_is_foreseen_for_those_who_only_read_or_want_silence() -> None:
    async with stage() as here:
        (said,) = here.say(FOUR)
        here.mouth.silence(said.previous_id)
        here.mouth.foresee(FIVE, said.previous_id)
        here.mouth.settle(Wishes(), listening=False)
        here.mouth.foresee(FIVE, ids.new(ids.MessageId))
        await here.settled()
        assert FIVE.strip() not in here.voice.asked


async def test_a_voice_that_costs_is_asked_only_for_what_is_sure() -> None:
    async with stage() as here:
        here.voice.cheap = False
        here.mouth.foresee(FOUR)
        here.mouth.foresee(FIVE, ids.new(ids.MessageId))
        await here.settled()
        assert here.voice.asked == [FIVE.strip()]

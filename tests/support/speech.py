"""People who speak and listen in a room: a microphone that is always on, and ears for Alicia's track."""

import asyncio
import importlib.util
import re
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from livekit import rtc

from alicia.protocol.messages import StartAnswer, Transcription
from alicia.speech.segments import RATE, Samples
from alicia.speech.sound import decode
from support.device import MENDING, Device
from support.rooms import Participant
from support.scripted.script import Held
from support.up import eventually

FRAME = RATE // 50
LOUD = 300
AGE_OF_WISDOM = "It was the age of wisdom."
PATIENCE = 30.0


def recorded(start: float, end: float) -> bytes:
    """Seconds of a human reading of "A Tale of Two Cities", which the speech-to-text model's wheel brings."""
    spec = importlib.util.find_spec("moonshine_voice")
    assert spec is not None
    assert spec.origin is not None
    samples = decode(Path(spec.origin).with_name("assets").joinpath("two_cities.wav").read_bytes())
    return samples[round(start * RATE) : round(end * RATE)].tobytes()


def age_of_wisdom() -> bytes:
    """`AGE_OF_WISDOM`, spoken in one breath: a busy machine may take any pause for the end of a turn."""
    return recorded(4.7, 6.5)


def is_wisdom(heard: str) -> bool:
    """Whether `AGE_OF_WISDOM` was understood, but for a small word that a small model may hear in it.

    One that knows the book may guess how it goes on.
    """
    began = " ".join(heard.split()[: len(AGE_OF_WISDOM.split()) + 1])
    return "age of wisdom" in began.lower() and word_errors(AGE_OF_WISDOM, began) < 0.3


def a_cough() -> bytes:
    """A fifth of a second of voice, without a word."""
    return recorded(1.45, 1.65)


def word_errors(expected: str, heard: str) -> float:
    """The share of words that were heard wrong."""
    wanted, got = (re.findall(r"[a-z']+", text.lower()) for text in (expected, heard))
    row = list(range(len(got) + 1))
    for i, word in enumerate(wanted, 1):
        before, row[0] = row[:], i
        for j, other in enumerate(got, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (word != other))
    return row[-1] / max(1, len(wanted))


class Person:
    """Speaks through a participant's microphone, and hears what Alicia says."""

    def __init__(self, participant: Participant) -> None:
        self._participant = participant
        self._words: asyncio.Queue[tuple[bytes, asyncio.Event]] = asyncio.Queue()
        self._heard: list[Samples] = []
        self._arrival = asyncio.Condition()
        self._speaking: asyncio.Task[None] | None = None
        self.last_loud = 0.0
        """When there was sound the last time, on the clock for measurements."""
        self._sids: set[str] = set()
        """By which its microphones were known; a link that is built anew gives them new ones."""
        self._listened_to = asyncio.Event()
        participant.room.on("local_track_republished", self._republished)  # pyright: ignore[reportUnknownMemberType]
        participant.room.on("local_track_subscribed", self._attended)  # pyright: ignore[reportUnknownMemberType]
        participant.room.on("track_subscribed", self._subscribed)  # pyright: ignore[reportUnknownMemberType]
        for other in participant.room.remote_participants.values():
            for publication in other.track_publications.values():
                if publication.track is not None:
                    self._subscribed(publication.track)

    @classmethod
    async def with_microphone(cls, participant: Participant) -> Self:
        """Somebody whose microphone is listened to."""
        person = cls(participant)
        await person.take_microphone()
        return person

    async def take_microphone(self, *, heard: bool = True) -> None:
        """Publish a microphone, which is silent until `say`, and wait until somebody listens to it."""
        source = await self._participant.publish_microphone(RATE)
        if heard:
            published = self._participant.room.local_participant.track_publications.values()
            await asyncio.gather(*(each.wait_for_subscription() for each in published))
            await self._is_heard()
        self._speaking = self._participant.start(self._speak(source))

    def _microphones(self) -> set[str]:
        return set(self._participant.room.local_participant.track_publications)

    async def _is_heard(self) -> None:
        """Wait until there is an ear: who subscribes to a track does not listen to it yet."""
        for sid in self._microphones():
            await asyncio.to_thread(eventually, partial(self._participant.is_heard, sid), f"{sid} is heard")

    def mute(self, muted: bool = True) -> None:
        """Switch the microphone off, or on again."""
        for publication in self._participant.room.local_participant.track_publications.values():
            track = publication.track
            assert isinstance(track, rtc.LocalAudioTrack)
            track.mute() if muted else track.unmute()

    async def drop_microphone(self) -> None:
        """Take the microphone out of the room."""
        assert self._speaking is not None
        self._speaking.cancel()
        await asyncio.wait([self._speaking])
        me = self._participant.room.local_participant
        for sid in list(me.track_publications):
            await me.unpublish_track(sid)

    async def say(self, pcm: bytes, rest: bytes = b"") -> None:
        """Speak; returns when the last of it is on its way, though the `rest` follows without a gap."""
        said = asyncio.Event()
        self._words.put_nowait((pcm, said))
        if rest:
            self._words.put_nowait((rest, asyncio.Event()))
        await said.wait()

    async def be_heard(self, device: Device, pcm: bytes) -> Transcription:
        """Speak and wait until that is written, as the device sees it.

        Who sees that the link was lost, or built anew, says it again: nobody keeps the sound for which there
        is no link.
        """
        before = {each.id for each in device.all(Transcription)}
        written: list[Transcription] = []

        def is_written() -> bool:
            said = (each for each in device.all(Transcription) if each.track_sid in self._sids)
            written[:] = [each for each in said if each.id not in before]
            return bool(written)

        while not written:
            await asyncio.wait_for(self._listened_to.wait(), PATIENCE)
            then = device.losses, self._microphones()
            await self._is_heard()
            await self.say(pcm)
            await device.until(lambda then=then: is_written() or (device.losses, self._microphones()) != then)
            # What was heard after all is known when the device is up to date.
            await device.until(lambda: is_written() or not device.cut_off, MENDING)
        return written[0]

    @property
    def heard(self) -> Samples:
        """All that came from Alicia's track."""
        return np.concatenate([np.zeros(0, np.int16), *self._heard])

    @property
    def sounding(self) -> int:
        """For how many milliseconds of that there was sound."""
        return 10 * sum(map(_is_loud, self._heard))

    async def hears_sound(self, milliseconds: float) -> None:
        """Wait until there was so much sound, with whatever gaps."""
        await self._until(lambda: self.sounding >= milliseconds)

    async def listens(self) -> None:
        """Wait until her track is there, silent or not."""
        await self._until(lambda: self._heard)

    async def hears_her(self) -> None:
        """Wait until there is sound."""
        await self._until(lambda: any(_is_loud(piece) for piece in self._heard))

    async def hears_silence(self, seconds: float = 1.0) -> None:
        """Wait until there was no sound for a while."""
        count = round(seconds * 100)
        await self._until(
            lambda: len(self._heard) >= count and not any(_is_loud(each) for each in self._heard[-count:])
        )

    def forget(self) -> None:
        """Begin to listen anew."""
        self._heard.clear()

    async def _until(self, condition: object) -> None:
        assert callable(condition)
        async with self._arrival:
            await asyncio.wait_for(self._arrival.wait_for(lambda: bool(condition())), PATIENCE)

    async def _speak(self, source: rtc.AudioSource) -> None:
        loop = asyncio.get_running_loop()
        ends = loop.time()
        while True:
            pcm, said = (b"", None) if self._words.empty() else self._words.get_nowait()
            frames: Sequence[bytes] = [pcm[i : i + 2 * FRAME] for i in range(0, len(pcm), 2 * FRAME)]
            for frame in frames or [b""]:
                ends = max(ends, loop.time()) + FRAME / RATE
                await source.capture_frame(rtc.AudioFrame(frame.ljust(2 * FRAME, b"\0"), RATE, 1, FRAME))
            if said is not None:
                # All of it is with LiveKit, which keeps its time: a test that is held up makes no pause.
                loop.call_at(ends, said.set)
            else:
                await asyncio.sleep(max(0.0, ends - loop.time()))

    def _republished(self, publication: rtc.LocalTrackPublication, former: str) -> None:
        self._sids |= {publication.sid, former}
        self._listened_to.clear()

    def _attended(self, track: rtc.Track) -> None:
        self._sids.add(track.sid)
        self._listened_to.set()

    def _subscribed(self, track: rtc.Track, *_: object) -> None:
        if track.kind == rtc.TrackKind.KIND_AUDIO:
            self._participant.start(self._listen(track))

    async def _listen(self, track: rtc.Track) -> None:
        async for event in rtc.AudioStream.from_track(track=track, sample_rate=24_000, num_channels=1):
            async with self._arrival:
                self._heard.append(np.frombuffer(event.frame.data, np.int16))
                if _is_loud(self._heard[-1]):
                    self.last_loud = time.perf_counter()
                self._arrival.notify_all()


def _is_loud(samples: Samples) -> bool:
    return bool(np.abs(samples).max(initial=0) > LOUD)


async def begun(phone: Device, person: Person, answer: Held) -> StartAnswer:
    """Ask for an answer of which only the first sentence comes, and wait until that is heard."""
    await phone.say("Count for me, please.")
    start = await phone.hears(StartAnswer)
    answer.release(10)
    await person.hears_her()
    return start

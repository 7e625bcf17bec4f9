"""The ears and the mouth of a room: the owner's microphones are heard, and answers are said aloud."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog
from livekit import rtc
from livekit.rtc.room import EventTypes

from alicia.agent.ear import Ear
from alicia.agent.mouth import Mouth
from alicia.agent.speech import Speech
from alicia.engine.talk import Talk
from alicia.engine.voice import Mute, Reached, Wishes
from alicia.ids import MessageId
from alicia.protocol.messages import AssistantSentence
from alicia.speech.activity import Activity
from alicia.speech.listener import Listener

log = structlog.get_logger(__name__)

AGAIN: Final = 1.0
"""Seconds until an ear that broke is replaced."""


class Senses:
    """Lends its voice to a conversation and hears for it, for as long as `run` runs."""

    def __init__(self, room: rtc.Room, speech: Speech, talk: Talk) -> None:
        self._room = room
        self._speech = speech
        self._talk = talk
        self._mouth = Mouth(room, speech.synthesiser, talk)
        self._ears: dict[str, Ear] = {}
        self._tasks = asyncio.TaskGroup()

    async def run(self) -> None:
        """Until cancelled."""
        handlers: dict[EventTypes, Callable[..., None]] = {
            "track_published": self._noticed,
            "track_subscribed": self._noticed,
            "track_unpublished": self._unpublished,
        }
        for event, handler in handlers.items():
            self._room.on(event, handler)  # pyright: ignore[reportUnknownMemberType]
        try:
            async with self._tasks:
                self._tasks.create_task(self._mouth.run())
                self._tasks.create_task(self._speech.warm())
                self._talk.lend(self)
        finally:
            for event, handler in handlers.items():
                self._room.off(event, handler)  # pyright: ignore[reportUnknownMemberType]
            self._talk.lend(Mute())
            await self._mouth.aclose()

    def _noticed(self, *_: object) -> None:
        self._look_around()

    def _unpublished(self, publication: rtc.RemoteTrackPublication, *_: object) -> None:
        if ear := self._ears.get(publication.sid):
            ear.end()

    def _look_around(self) -> None:
        """Hear every microphone of the owner's that is not heard yet, each by an ear of its own."""
        owner = self._talk.owner
        for participant in self._room.remote_participants.values():
            if owner is None or participant.identity.rpartition(":")[0] != owner:
                continue
            for publication in participant.track_publications.values():
                if publication.source == rtc.TrackSource.SOURCE_MICROPHONE:
                    self._attend(publication, participant.identity)

    def _attend(self, publication: rtc.RemoteTrackPublication, device: str) -> None:
        track = publication.track
        if track is None:
            publication.set_subscribed(True)
        elif track.sid not in self._ears:
            self._ears[track.sid] = self._ear(track, device)
            self._tasks.create_task(self._hear(track, device))

    async def _hear(self, track: rtc.RemoteTrack, device: str) -> None:
        try:
            while not await self._ears[track.sid].run():
                log.warning("ear broke", track_sid=track.sid)
                await asyncio.sleep(AGAIN)
                self._ears[track.sid] = self._ear(track, device)
        finally:
            del self._ears[track.sid]

    def _ear(self, track: rtc.RemoteTrack, device: str) -> Ear:
        listener = Listener(self._speech.recogniser, Activity, lambda: self._talk.wishes.language)
        return Ear(track, device, listener, self._talk)

    # As a voice.

    @property
    def speaking(self) -> bool:
        return self._mouth.speaking

    def settle(self, wishes: Wishes, *, listening: bool) -> None:
        self._mouth.settle(wishes, listening=listening)
        self._look_around()

    def say(self, sentence: AssistantSentence) -> None:
        self._mouth.say(sentence)

    def foresee(self, text: str, answer_id: MessageId | None = None) -> None:
        self._mouth.foresee(text, answer_id)

    def hush(self, answer_id: MessageId | None = None) -> Reached | None:
        return self._mouth.hush(answer_id)

    def silence(self, answer_id: MessageId) -> Reached | None:
        return self._mouth.silence(answer_id)

    def pause(self) -> None:
        self._mouth.pause()

    def resume(self) -> None:
        self._mouth.resume()

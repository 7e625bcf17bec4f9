"""Users of a soak, who write and speak in programs that are closed and opened again all the time."""

import asyncio
import random
import time
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import alicia
from alicia import ids
from alicia.client import AnswerFailed, Conversation, LogRestarted
from alicia.client.events import Event
from alicia.protocol.envelope import encode
from alicia.protocol.messages import AudioChunk, UserMessage
from alicia.speech.segments import RATE
from alicia.speech.sound import wav
from support.proof import Told
from support.speech import age_of_wisdom

RECORDED = 0.15
"""How many of the questions are recordings."""
ALOUD = 0.1
"""How many are said into a microphone."""
IMPATIENT = 0.2
"""How many are left before their answer has ended, by closing the program."""
UNDERSTOOD = 15.0
"""Seconds to wait for what was said aloud; what a cut link swallowed is not understood."""


@dataclass
class Talker:
    """One user's conversation."""

    number: int
    folder: Path
    id: str | None = None
    asked: list[str] = field(default_factory=list[str])
    clips: list[ids.AudioId] = field(default_factory=list[ids.AudioId])
    aloud: int = 0
    """How often something was said into a microphone."""
    failed: int = 0
    reloads: int = 0
    restarts: int = 0
    """How often the log had to begin anew: never, as nothing is ever taken back."""
    heard: list[str] = field(default_factory=list[str])
    """The ids in the log as it came, through all reloads, each time going on where the program had ended."""
    log: list[bytes] = field(default_factory=list[bytes])
    """The whole log as a new device gets it."""
    _understood: asyncio.Event = field(default_factory=asyncio.Event)

    async def talk(self, url: str, chance: random.Random, until: float) -> None:
        """Ask until the time is over."""
        while time.monotonic() < until:
            await self._sit(url, chance, until)
            self.reloads += 1

    async def collect(self, url: str) -> None:
        """Hear what is left to hear, then take the whole log as a new device does."""
        async with alicia.connect(url, self.id, store=":memory:", history=True) as conversation:
            await conversation.flush()
            await conversation.caught_up()
            self.log = [encode(envelope) for envelope in conversation.log]
        wanted = Told(self.log).order
        async with (
            alicia.connect(url, self.id, store=self.folder) as conversation,
            aclosing(conversation.events()) as events,
        ):
            with suppress(TimeoutError):
                async with asyncio.timeout(UNDERSTOOD):
                    while self.heard != wanted:
                        self._hear(await anext(events))

    async def _sit(self, url: str, chance: random.Random, until: float) -> None:
        aloud = chance.random() < 2 * ALOUD
        features = ("streaming", "voice") if aloud else ("streaming",)
        async with alicia.connect(url, self.id, store=self.folder, features=features) as conversation:
            listening = asyncio.create_task(self._listen(conversation))
            try:
                await self._converse(conversation, chance, until, aloud)
            finally:
                listening.cancel()
                await asyncio.wait([listening])

    async def _converse(
        self, conversation: Conversation, chance: random.Random, until: float, aloud: bool
    ) -> None:
        for _ in range(chance.randint(1, 5)):
            draw = chance.random()
            if aloud and draw < 0.5:
                await self._speak(conversation)
            elif draw < RECORDED:
                await self._record(conversation)
            elif chance.random() < IMPATIENT:
                conversation.ask(self._question()).close()
                break
            else:
                await self._ask(conversation)
            if time.monotonic() >= until:
                break
        await conversation.flush()
        self.id = conversation.id

    async def _listen(self, conversation: Conversation) -> None:
        async for event in conversation.events():
            self._hear(event)

    def _hear(self, event: Event) -> None:
        self.restarts += isinstance(event, LogRestarted)
        if (name := Told.name(event)) is not None:
            self.heard.append(name)
        if isinstance(event, UserMessage):
            self._understood.set()

    def _question(self) -> str:
        self.asked.append(f"Question {len(self.asked)} of {self.number}")
        return self.asked[-1]

    async def _ask(self, conversation: Conversation) -> None:
        try:
            await conversation.ask(self._question())
        except AnswerFailed:
            self.failed += 1

    async def _record(self, conversation: Conversation) -> None:
        """Send a recording; nobody waits for its answer."""
        audio_id = ids.new(ids.AudioId)
        self.clips.append(audio_id)
        clip = AudioChunk(
            conversation_id=ids.ConversationId(conversation.id or ""),
            id=audio_id,
            format="audio/wav",
            duration_ms=1800,
            sequence=1,
            is_last=True,
            data=wav(age_of_wisdom(), RATE),
        )
        await conversation.send(clip)

    async def _speak(self, conversation: Conversation) -> None:
        """Say something into the microphone, and wait a while for it to be understood."""
        self.aloud += 1
        with suppress(TimeoutError):
            async with asyncio.timeout(UNDERSTOOD):
                await conversation.speak(wav(age_of_wisdom(), RATE))
                self._understood.clear()
                await self._understood.wait()

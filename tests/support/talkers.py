"""Users of a soak, who write and speak in programs that are closed and opened again all the time.

Each program is a process of its own, as those of users are: `python -m support.talkers` does what is read
from its input, and writes what came of it.
"""

import asyncio
import random
import sys
import time
from contextlib import aclosing, suppress

import msgspec

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


class Talker(msgspec.Struct):
    """One user's conversation."""

    number: int
    folder: str
    id: str | None = None
    asked: list[str] = []
    clips: list[ids.AudioId] = []
    aloud: int = 0
    """How often something was said into a microphone."""
    failed: int = 0
    reloads: int = 0
    restarts: int = 0
    """How often the log had to begin anew: never, as nothing is ever taken back."""
    heard: list[str] = []
    """The ids in the log as it came, through all reloads, each time going on where the program had ended."""
    log: list[bytes] = []
    """The whole log as a new device gets it."""

    async def talk(self, url: str, chance: random.Random, until: float, running: set[int]) -> None:
        """Ask in one program after the other until the time is over; `running` holds its process's id."""
        while (left := until - time.monotonic()) > 0:
            await self._open(Sitting(url, chance.getrandbits(32), left, self), running)
            self.reloads += 1

    async def _open(self, sitting: "Sitting", running: set[int]) -> None:
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        running.add(program.pid)
        try:
            said, errors = await program.communicate(msgspec.msgpack.encode(sitting))
        finally:
            running.discard(program.pid)
            if program.returncode is None:
                program.kill()
        assert program.returncode == 0, errors.decode(errors="replace")
        came = msgspec.msgpack.decode(said, type=Talker)
        for name in self.__struct_fields__:
            setattr(self, name, getattr(came, name))

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
                        self.hear(await anext(events))

    def hear(self, event: Event) -> None:
        self.restarts += isinstance(event, LogRestarted)
        if (name := Told.name(event)) is not None:
            self.heard.append(name)


class Sitting(msgspec.Struct):
    """What one program is to do."""

    url: str
    seed: int
    seconds: float
    talker: Talker


class Program:
    """One program: asks a few times, then closes."""

    def __init__(self, talker: Talker) -> None:
        self._talker = talker
        self._understood = asyncio.Event()

    async def sit(self, url: str, chance: random.Random, until: float) -> None:
        """Until it has been enough."""
        aloud = chance.random() < 2 * ALOUD
        features = ("streaming", "voice") if aloud else ("streaming",)
        async with alicia.connect(
            url, self._talker.id, store=self._talker.folder, features=features
        ) as conversation:
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
        self._talker.id = conversation.id

    async def _listen(self, conversation: Conversation) -> None:
        async for event in conversation.events():
            self._hear(event)

    def _hear(self, event: Event) -> None:
        self._talker.hear(event)
        if isinstance(event, UserMessage):
            self._understood.set()

    def _question(self) -> str:
        talker = self._talker
        talker.asked.append(f"Question {len(talker.asked)} of {talker.number}")
        return talker.asked[-1]

    async def _ask(self, conversation: Conversation) -> None:
        try:
            await conversation.ask(self._question())
        except AnswerFailed:
            self._talker.failed += 1

    async def _record(self, conversation: Conversation) -> None:
        """Send a recording; nobody waits for its answer."""
        audio_id = ids.new(ids.AudioId)
        self._talker.clips.append(audio_id)
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
        self._talker.aloud += 1
        with suppress(TimeoutError):
            async with asyncio.timeout(UNDERSTOOD):
                await conversation.speak(wav(age_of_wisdom(), RATE))
                self._understood.clear()
                await self._understood.wait()


async def main() -> None:
    wanted = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Sitting)
    until = time.monotonic() + wanted.seconds
    await Program(wanted.talker).sit(wanted.url, random.Random(wanted.seed), until)
    sys.stdout.buffer.write(msgspec.msgpack.encode(wanted.talker))


if __name__ == "__main__":
    asyncio.run(main())

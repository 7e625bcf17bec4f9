"""A soak: conversations that go on while parts are killed, and the proof that nothing was lost.

Everything runs as `alicia up` runs it, whose supervisor brings killed parts back; only the model is scripted.
"""

import asyncio
import random
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

import alicia
from alicia import ids
from alicia.client import AnswerFailed, Conversation
from alicia.protocol.envelope import encode
from alicia.protocol.messages import AudioChunk
from alicia.speech.segments import RATE
from alicia.speech.sound import wav
from alicia.storage.pool import Pool, make_pool
from support.embedded import Embedded
from support.scripted import Cut, ScriptedServer
from support.speech import age_of_wisdom
from support.tables import journal, rows, unfinished
from support.up import Up

PARTS = ("Agent", "API", "LiveKit", "PostgreSQL")
SAMPLES = 20
SPOKEN = 0.2
"""How many of the questions are recordings."""
PATIENCE = 120.0
ANSWER = "One thing is this. Another is that. And so it ends."


@dataclass
class Talker:
    """One user's conversation, in a program that is closed and opened again all the time."""

    number: int
    folder: Path
    id: str | None = None
    asked: list[str] = field(default_factory=list[str])
    clips: list[ids.AudioId] = field(default_factory=list[ids.AudioId])
    """What was said rather than written."""
    failed: int = 0
    reloads: int = 0
    log: list[bytes] = field(default_factory=list[bytes])

    async def talk(self, url: str, chance: random.Random, until: float) -> None:
        """Ask until the time is over."""
        while time.monotonic() < until:
            await self._sit(url, chance, until)
            self.reloads += 1

    async def collect(self, url: str) -> None:
        """Take the whole log, as a new device gets it."""
        async with alicia.connect(url, self.id, store=self.folder, history=True) as conversation:
            await conversation.flush()
            await conversation.caught_up()
            self.log = [encode(envelope) for envelope in conversation.log]

    async def _sit(self, url: str, chance: random.Random, until: float) -> None:
        async with alicia.connect(url, self.id, store=self.folder) as conversation:
            for _ in range(chance.randint(1, 5)):
                if chance.random() < SPOKEN:
                    await self._say(conversation)
                else:
                    await self._ask(conversation)
                if time.monotonic() >= until:
                    break
            await conversation.flush()
            self.id = conversation.id

    async def _ask(self, conversation: Conversation) -> None:
        text = f"Question {len(self.asked)} of {self.number}"
        self.asked.append(text)
        try:
            await conversation.ask(text)
        except AnswerFailed:
            self.failed += 1

    async def _say(self, conversation: Conversation) -> None:
        """Send a recording; nobody waits for its answer."""
        audio_id, sound = ids.new(ids.AudioId), wav(age_of_wisdom(), RATE)
        self.clips.append(audio_id)
        clip = AudioChunk(
            conversation_id=ids.ConversationId(conversation.id or ""),
            id=audio_id,
            format="audio/wav",
            duration_ms=1800,
            sequence=1,
            is_last=True,
            data=sound,
        )
        await conversation.send(clip)


@dataclass(frozen=True)
class Sample:
    """How much a run holds at one moment."""

    at: float
    memory: dict[str, int]
    connections: int


@dataclass
class Soak:
    """What happened in a run."""

    talkers: list[Talker]
    kills: dict[str, int] = field(default_factory=dict[str, int])
    samples: list[Sample] = field(default_factory=list[Sample])

    async def check(self, pool: Pool) -> list[str]:
        """What is not as it should be; nothing, if all is well."""
        wrong: list[str] = []
        for talker in self.talkers:
            assert talker.id
            stored = await journal(pool, talker.id)
            if talker.log != stored:
                wrong.append(f"{talker.id}: {len(talker.log)} stanzas held, {len(stored)} in the journal")
            if open_ends := await unfinished(pool, talker.id):
                wrong.append(f"{talker.id}: unfinished {open_ends}")
            wrong += [f"{talker.id}: {line}" for line in await self._compare(pool, talker)]
        return wrong

    async def _compare(self, pool: Pool, talker: Talker) -> list[str]:
        """Questions and rows: each once, each with one whole answer."""
        said = await rows(
            pool,
            """
            SELECT CASE WHEN q.audio_id IS NULL THEN q.contents END,
                   count(a.id), count(a.id) FILTER (WHERE a.contents = coalesce(s.text, ''))
              FROM alicia_messages q
              LEFT JOIN alicia_messages a ON a.previous_id = q.id
                                         AND a.message_role = 'assistant'
                                         AND a.superseded_by IS NULL
              LEFT JOIN LATERAL (SELECT string_agg(text, '' ORDER BY sentence_sequence_number) AS text
                                   FROM alicia_sentences
                                  WHERE message_id = a.id) s ON true
             WHERE q.conversation_id = %s AND q.message_role = 'user'
             GROUP BY q.id
             ORDER BY q.audio_id NULLS FIRST, q.sequence_number
            """,
            talker.id,
        )
        written: list[tuple[object, ...]] = [(text, 1, 1) for text in talker.asked]
        spoken: list[tuple[object, ...]] = [(None, 1, 1) for _ in talker.clips]
        return [] if said == written + spoken else [f"rows {said} for {talker.asked} and {talker.clips}"]

    async def settled(self, pool: Pool) -> bool:
        """Whether every question is answered and every recording understood."""
        for talker in self.talkers:
            heard = await rows(
                pool,
                "SELECT count(*) FROM alicia_messages WHERE conversation_id = %s AND audio_id IS NOT NULL",
                talker.id,
            )
            if heard != [(len(talker.clips),)] or await unfinished(pool, talker.id or ""):
                return False
        return True


async def run(home: Path, seconds: float, *, talks: int = 3, every: float = 6.0, seed: int = 0) -> Soak:
    """Talk for so long while something is killed every few seconds; AssertionError if anything is wrong."""
    async with AsyncExitStack() as stack:
        model = stack.enter_context(ScriptedServer())
        model.say(ANSWER, every=0.02, always=True)
        settings = {
            "ALICIA_LLM_URL": model.url,
            "ALICIA_LLM_MODEL": model.model,
            "ALICIA_LLM_TOOLS": "native",
        }
        up = stack.enter_context(Up(home / "home", settings))
        await asyncio.to_thread(up.ready)
        server = Embedded(up)
        database_url = server.database_url
        soak = Soak([Talker(number, home / f"device{number}") for number in range(talks)])
        end = time.monotonic() + seconds
        async with asyncio.TaskGroup() as tasks:
            talking = [
                tasks.create_task(talker.talk(server.url, random.Random(seed + talker.number), end))
                for talker in soak.talkers
            ]
            others = [
                tasks.create_task(_break(soak, server, model, random.Random(seed), every, end)),
                tasks.create_task(_watch(soak, up, database_url, seconds / SAMPLES)),
            ]
            await asyncio.wait(talking)
            for task in others:
                task.cancel()
        async with make_pool(database_url, max_size=2) as pool:
            await _settle(soak, pool)
            for talker in soak.talkers:
                await talker.collect(server.url)
            wrong = await soak.check(pool)
    assert not wrong, "\n".join(wrong)
    return soak


async def _settle(soak: Soak, pool: Pool) -> None:
    """Give what was killed last the time to come back and to finish."""
    deadline = time.monotonic() + PATIENCE
    while not await soak.settled(pool):
        if time.monotonic() > deadline:
            return
        await asyncio.sleep(0.5)


async def _break(
    soak: Soak, server: Embedded, model: ScriptedServer, chance: random.Random, every: float, end: float
) -> None:
    """Something breaks every few seconds, and the last of it some time before the end."""
    while time.monotonic() < end - every:
        await asyncio.sleep(chance.uniform(0.5, 1.5) * every)
        part = chance.choice((*PARTS, "Model"))
        if part == "Model":
            model.chat(Cut())
        else:
            # It may be dead from the last time.
            with suppress(KeyError, ProcessLookupError):
                await asyncio.to_thread(server.kill, part)
        soak.kills[part] = soak.kills.get(part, 0) + 1


async def _watch(soak: Soak, up: Up, database_url: str, every: float) -> None:
    """Note how much memory and how many connections there are."""
    began = time.monotonic()
    while True:
        await asyncio.sleep(every)
        memory: dict[str, int] = {}
        for part, pid in (await asyncio.to_thread(up.children)).items():
            with suppress(psutil.NoSuchProcess):
                memory[part] = psutil.Process(pid).memory_info().rss
        with suppress(psycopg.OperationalError):
            async with await psycopg.AsyncConnection.connect(database_url) as conn:
                cursor = await conn.execute("SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL")
                (connections,) = await cursor.fetchone() or (0,)
                soak.samples.append(Sample(time.monotonic() - began, memory, connections))

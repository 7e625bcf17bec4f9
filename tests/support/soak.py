"""A soak: conversations that go on while parts are killed and links are cut, and the proof of what is left.

Everything runs as `alicia up` runs it, whose supervisor brings killed parts back; only the model is scripted.
"""

import asyncio
import json
import random
import time
from collections import Counter
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil
import psycopg

from alicia.local.home import Home
from alicia.storage.pool import Pool, make_pool
from support import links
from support.embedded import Embedded
from support.flat import Point, Verdict, judge
from support.gateway import Gateway
from support.proof import Told, compare
from support.scripted import ScriptedServer
from support.tables import journal, rows, unfinished
from support.talkers import Talker
from support.up import Up

PARTS = ("Agent", "API", "LiveKit", "PostgreSQL")
CUTS = ("link to PostgreSQL", "link to LiveKit")
SAMPLES = 180
RESTED = 60.0
"""Seconds that a part lives at least; one that is killed sooner is brought back later and later."""
PATIENCE = 180.0
STEADY = 10
"""So many seconds the connections must be few enough, one look a second."""
GROWN = 2
"""A pool opens a second connection when two ask at once, and keeps it for ten minutes: one for each pool."""
OFTEN = 5.0
"""Seconds between two faults, on average, and less in a short run."""
ANSWER = "One thing is this. Another is that. And so it ends."
ALIVE = 3
"""No third of a long run has so many times fewer answers than the best: who is away cannot lose anything."""
LONG = 600.0
SPARE_MEMORY = 48 * 2**20
SPARE_FILES = 24
SPARE_CONNECTIONS = 4
"""What a run may hold more at its end besides a share: see `flat`."""


@dataclass(frozen=True)
class Sample:
    """How much a run holds at one moment: bytes and open files of each part, and PostgreSQL's connections."""

    at: float
    pids: dict[str, int]
    memory: dict[str, int]
    files: dict[str, int]
    connections: int


@dataclass
class Soak:
    """What happened in a run."""

    talkers: list[Talker]
    seconds: float
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    faults: dict[str, int] = field(default_factory=dict[str, int])
    samples: list[Sample] = field(default_factory=list[Sample])
    before: int = 0
    """Connections to PostgreSQL before anybody came."""
    after: int = 0
    """The same when all had gone, and whoever held connections was started anew."""
    answers: list[int] = field(default_factory=list[int])
    """How many were begun in each third of the run."""
    wrong: list[str] = field(default_factory=list[str])
    """What is not as it should be; nothing, if all is well."""

    async def check(self, pool: Pool) -> None:
        """Hold what everybody has against each other."""
        wrong = self.wrong
        for talker in self.talkers:
            assert talker.id
            stored = await journal(pool, talker.id)
            if talker.log != stored:
                wrong.append(f"{talker.id}: {len(talker.log)} stanzas held, {len(stored)} in the journal")
            if talker.heard != Told(stored).order or talker.restarts:
                wrong.append(f"{talker.id}: what came through reloads is not the journal")
            if open_ends := await unfinished(pool, talker.id):
                wrong.append(f"{talker.id}: unfinished {open_ends}")
            lines = [*await compare(pool, talker.id, stored), *await _answered(pool, talker)]
            wrong += [f"{talker.id}: {line}" for line in lines]
        wrong += [f"{what} grew: {verdict}" for what, verdict in self.verdicts().items() if not verdict.flat]
        self.answers = [await self._begun(pool, third) for third in range(3)]
        if self.seconds >= LONG and min(self.answers) * ALIVE < max(self.answers):
            wrong.append(f"answers came now and then only: {self.answers} in the thirds of the run")
        if self.after > self.before + GROWN:
            wrong.append(f"{self.after} connections to PostgreSQL are left, {self.before} at first")

    async def _begun(self, pool: Pool, third: int) -> int:
        sql = """
            SELECT count(*)
              FROM alicia_messages
             WHERE message_role = 'assistant'
               AND extract(epoch FROM created_at - %s) BETWEEN %s AND %s
        """
        part = self.seconds / 3
        since = self.began.replace(tzinfo=None)
        ((count,),) = await rows(pool, sql, since, third * part, (third + 1) * part)
        assert isinstance(count, int)
        return count

    def verdicts(self) -> dict[str, Verdict]:
        """Whether each part's memory, its open files, and the connections stayed what they were."""
        found: dict[str, Verdict | None] = {}
        for part in sorted({part for sample in self.samples for part in sample.pids}):
            there = [sample for sample in self.samples if part in sample.pids]
            for what, spare in (("memory", SPARE_MEMORY), ("files", SPARE_FILES)):
                held = [Point(each.at, each.pids[part], getattr(each, what)[part]) for each in there]
                # A pool opens connections as they are needed, up to ten, and keeps each for ten minutes.
                found[f"{part}: {what}"] = judge(held, self.seconds, spare, in_steps=what == "files")
        # The server's process, since its connections end with it.
        held = [Point(each.at, each.pids.get("PostgreSQL", 0), each.connections) for each in self.samples]
        found["PostgreSQL: connections"] = judge(held, self.seconds, SPARE_CONNECTIONS, in_steps=True)
        return {what: verdict for what, verdict in found.items() if verdict is not None}

    async def settled(self, pool: Pool) -> bool:
        """Whether every question is answered and every recording understood."""
        for talker in self.talkers:
            clips = await rows(
                pool,
                "SELECT count(*) FROM alicia_messages WHERE conversation_id = %s AND audio_id = ANY(%s)",
                talker.id,
                list(talker.clips),
            )
            if clips != [(len(talker.clips),)] or await _answered(pool, talker):
                return False
            if await unfinished(pool, talker.id or ""):
                return False
        return True


async def _answered(pool: Pool, talker: Talker) -> list[str]:
    """Questions and rows: each once, in order, each with one whole answer; aloud, all that was understood."""
    said = await rows(
        pool,
        """
        SELECT q.audio_id, q.contents, count(a.id),
               count(a.id) FILTER (WHERE a.contents = coalesce(s.text, ''))
          FROM alicia_messages q
          LEFT JOIN alicia_messages a ON a.previous_id = q.id
                                     AND a.message_role = 'assistant'
                                     AND a.superseded_by IS NULL
          LEFT JOIN LATERAL (SELECT string_agg(text, '' ORDER BY sentence_sequence_number) AS text
                               FROM alicia_sentences
                              WHERE message_id = a.id) s ON true
         WHERE q.conversation_id = %s AND q.message_role = 'user'
         GROUP BY q.id
         ORDER BY q.sequence_number
        """,
        talker.id,
    )
    wrong = [f"{row[2]} answers, {row[3]} of them whole, to {row[:2]}" for row in said if row[2:] != (1, 1)]
    written = [text for audio_id, text, *_ in said if audio_id is None]
    if written != talker.asked:
        wrong.append(f"written were {talker.asked}, stored are {written}")
    spoken = [audio_id for audio_id, *_ in said if audio_id is not None]
    if len(set(spoken)) != len(spoken) or not set(talker.clips) <= set(spoken):
        wrong.append(f"recorded were {talker.clips}, stored are {spoken}")
    return wrong


class Trouble:
    """Breaks one thing after the other; in each quarter of a run one part is spared, and lives for long."""

    def __init__(self, server: Embedded, model: Gateway, cables: links.Links | None, seed: int) -> None:
        self._server, self._model, self._cables = server, model, cables
        self._chance = random.Random(seed)
        self._made: Counter[str] = Counter()

    async def make(self, soak: Soak, every: float, end: float) -> None:
        """Something breaks every few seconds, and the last of it some time before the end."""
        began = time.monotonic()
        while time.monotonic() < end - 2 * every:
            await asyncio.sleep(self._chance.uniform(0.5, 1.5) * every)
            spared = PARTS[min(int((time.monotonic() - began) / soak.seconds * len(PARTS)), len(PARTS) - 1)]
            rested = await asyncio.to_thread(self._rested, min(RESTED, soak.seconds / 6))
            fault = self._draw([part for part in rested if part != spared])
            await self._break(fault)
            soak.faults[fault] = soak.faults.get(fault, 0) + 1

    def _rested(self, seconds: float) -> list[str]:
        """The parts that have lived for so long."""
        rested: list[str] = []
        for part, pid in self._server.up.children().items():
            with suppress(psutil.NoSuchProcess):
                if part in PARTS and time.time() - psutil.Process(pid).create_time() > seconds:
                    rested.append(part)
        return rested

    def _draw(self, killable: list[str]) -> str:
        """Each fault comes as often as any other, as far as there is something to kill."""
        possible = [*killable, "Model", *(CUTS if self._cables else ())]
        fewest = min(self._made[fault] for fault in possible)
        fault = self._chance.choice([fault for fault in possible if self._made[fault] == fewest])
        self._made[fault] += 1
        return fault

    async def _break(self, fault: str) -> None:
        if fault == "Model":
            await self._model.close()
            await asyncio.sleep(self._chance.uniform(0.5, 3.0))
            await self._model.open()
        elif fault in CUTS:
            await self._cut(fault)
        else:
            # It may be dead from the last time.
            with suppress(KeyError, ProcessLookupError):
                await asyncio.to_thread(self._server.kill, fault)

    async def _cut(self, fault: str) -> None:
        assert self._cables is not None
        ports = Home(self._server.up.home).ports()
        if fault == "link to PostgreSQL":
            places = self._cables.cut(tcp=[ports["postgres"]])
        else:
            settings = json.loads((self._server.up.home / "livekit" / "livekit.yaml").read_text())
            places = self._cables.cut(tcp=[ports["livekit"]], udp=[settings["rtc"]["udp_port"]])
        try:
            await asyncio.sleep(self._chance.choice((1.0, 4.0, 12.0)))
        finally:
            self._cables.mend(places)


async def run(home: Path, seconds: float, *, talks: int = 3, seed: int = 0) -> Soak:
    """Talk for so long while something breaks every few seconds, and see what was lost.

    Links are cut only in a network of the program's own: see `links.move_to_own_network`.
    """
    async with AsyncExitStack() as stack:
        cables = stack.enter_context(links.Links()) if links.in_own_network() else None
        model = stack.enter_context(ScriptedServer())
        model.say(ANSWER, every=0.02, always=True)
        gateway = await stack.enter_async_context(Gateway(model.port))
        await gateway.open()
        settings = {
            "ALICIA_LLM_URL": f"{gateway.url}/v1",
            "ALICIA_LLM_MODEL": model.model,
            "ALICIA_LLM_TOOLS": "native",
        }
        up = stack.enter_context(Up(home / "home", settings))
        await asyncio.to_thread(up.ready)
        server = Embedded(up)
        database_url = server.database_url
        soak = Soak([Talker(number, str(home / f"device{number}")) for number in range(talks)], seconds)
        running: set[int] = set()
        soak.before = await _connections(database_url)
        end, every = time.monotonic() + seconds, min(OFTEN, seconds / 20)
        async with asyncio.TaskGroup() as tasks:
            talking = [
                tasks.create_task(talker.talk(server.url, random.Random(seed + talker.number), end, running))
                for talker in soak.talkers
            ]
            trouble = Trouble(server, gateway, cables, seed)
            others = [
                tasks.create_task(trouble.make(soak, every, end)),
                tasks.create_task(_watch(soak, up, running, database_url, seconds / SAMPLES)),
            ]
            await asyncio.wait(talking)
            for task in others:
                task.cancel()
        async with make_pool(database_url, max_size=2) as pool:
            await _settle(soak, pool)
            for talker in soak.talkers:
                await talker.collect(server.url)
        soak.after = await _rest(server, database_url, soak.before + GROWN)
        async with make_pool(database_url, max_size=2) as pool:
            await soak.check(pool)
    return soak


async def _settle(soak: Soak, pool: Pool) -> None:
    """Give what broke last the time to come back and to finish."""
    deadline = time.monotonic() + PATIENCE
    while not await soak.settled(pool):
        if time.monotonic() > deadline:
            return
        await asyncio.sleep(0.5)


async def _rest(server: Embedded, database_url: str, wanted: int) -> int:
    """Have whoever holds connections start anew; how many there are then, as soon as they stay few enough."""
    for part in ("Agent", "API"):
        await asyncio.to_thread(server.kill, part)
    seen: list[int] = []
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        await asyncio.sleep(1)
        back = {"Agent", "API"} <= set(await asyncio.to_thread(server.up.children))
        seen = [*seen, await _connections(database_url)] if back else []
        # At first they have opened none of their own.
        if len(seen) > STEADY and max(seen[-STEADY:]) <= wanted:
            break
    return seen[-1] if seen else await _connections(database_url)


async def _connections(database_url: str) -> int:
    """How many connections of others there are."""
    async with await psycopg.AsyncConnection.connect(database_url, connect_timeout=3) as conn:
        cursor = await conn.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()"
        )
        (count,) = await cursor.fetchone() or (0,)
        return int(count)


async def _watch(soak: Soak, up: Up, running: set[int], database_url: str, every: float) -> None:
    """Note how much is held."""
    began = time.monotonic()
    while True:
        await asyncio.sleep(every)
        pids = await asyncio.to_thread(up.children)
        pids["Supervisor"] = up.process.pid
        held = {part: found for part, pid in pids.items() if any(found := _held(pid))}
        if programs := [found for pid in running if any(found := _held(pid))]:
            # The average one, as if it were one that lives for ever.
            memory, files = map(sum, zip(*programs, strict=True))
            pids["Program"], held["Program"] = 0, (memory // len(programs), files // len(programs))
        with suppress(psycopg.OperationalError):
            sample = Sample(
                at=time.monotonic() - began,
                pids={part: pids[part] for part in held},
                memory={part: memory for part, (memory, _) in held.items()},
                files={part: files for part, (_, files) in held.items()},
                connections=await _connections(database_url),
            )
            soak.samples.append(sample)


def _held(pid: int) -> tuple[int, int]:
    """Bytes and open files of a process; none, if it is gone."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return process.memory_info().rss, process.num_fds()
    return 0, 0

"""The worker: registers with LiveKit and lives a conversation in each room it is sent to."""

import asyncio
import logging
import os
import secrets
import signal
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

import structlog
from livekit import api
from livekit.agents import AgentServer, JobContext, JobExecutorType

from alicia.agent.changes import watch
from alicia.agent.job import Job
from alicia.agent.services import open_services
from alicia.agent.sweep import sweep, sweep_lessons
from alicia.agent.voices import Voices
from alicia.config import Config
from alicia.engine.services import Services
from alicia.memory.embeddings import Embedder
from alicia.telemetry import metrics

log = structlog.get_logger(__name__)

JOBS_AT_ONCE: Final = 100
DRAIN_SECONDS: Final = 600


class Worker:
    """Jobs come in threads of their own, but every conversation lives in this loop.

    So all share one pool of connections and one model, and none waits for another thread's turn.
    """

    def __init__(self, config: Config, services: Services, voices: Voices) -> None:
        livekit = config.need_livekit()
        self.server = AgentServer(
            ws_url=livekit.url,
            api_key=livekit.api_key,
            api_secret=livekit.api_secret,
            host="127.0.0.1",
            port=0,
            job_executor_type=JobExecutorType.THREAD,
            num_idle_processes=1,
            # By jobs, not by CPU: a machine that is busy talking must not turn its user away.
            load_fnc=lambda worker: min(len(worker.active_jobs) / JOBS_AT_ONCE, 1.0),
            load_threshold=1.0,
            drain_timeout=DRAIN_SECONDS,
        )
        self.server.rtc_session(self._answer_room, agent_name=config.agent_name)
        self._services = services
        self._voices = voices
        self._loop = asyncio.get_running_loop()
        self._jobs: dict[Job, asyncio.Task[None]] = {}
        metrics.jobs.set_function(lambda: len(self._jobs))

    @property
    def open(self) -> dict[str, Job]:
        """The jobs by their rooms."""
        return {job.room_name: job for job in self._jobs}

    def on_registered(self, callback: Callable[[], None]) -> None:
        """LiveKit knows this worker from now on."""

        def registered(*_: object) -> None:
            callback()

        self.server.on("worker_registered", registered)  # pyright: ignore[reportUnknownMemberType]

    async def drain(self) -> None:
        """Take no new rooms, and leave each one when its running answers are done."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.server.drain())
            for job in self._jobs:
                tasks.create_task(job.drain())

    async def abandon(self) -> None:
        """Leave every room now. What is unfinished stays so, and another worker finds it."""
        for task in self._jobs.values():
            task.cancel()
        await asyncio.gather(*self._jobs.values(), return_exceptions=True)

    async def aclose(self) -> None:
        """Leave every room and end the threads of jobs; a process in which one is left does not end."""
        await self.abandon()
        await self.server.aclose()

    async def _answer_room(self, context: JobContext) -> None:
        """In the job's own thread: have the room lived in the worker's loop, and wait for the end."""
        info = next(each for each in self.server.active_jobs if each.job.id == context.job.id)
        living = asyncio.run_coroutine_threadsafe(
            self._live(info.job.room.name, info.url, info.token), self._loop
        )
        try:
            await asyncio.wrap_future(living)
        finally:
            context.shutdown()

    async def _live(self, room: str, url: str, token: str) -> None:
        # On a busy machine a room may be given away twice, and both jobs would hold the worker's one lease.
        if any(job.room_name == room for job in self._jobs):
            log.info("room is served already", conversation_id=room)
            return
        job = Job(room, self._services, self._voices)
        self._jobs[job] = asyncio.create_task(job.run(url, token))
        try:
            await self._jobs[job]
        finally:
            del self._jobs[job]


async def run(config: Config, embedder: Embedder, registered: Callable[[], None] = lambda: None) -> None:
    """Work until told to stop; call `registered` when LiveKit first knows this worker.

    SIGTERM and SIGINT drain: running answers end, new rooms go to others. SIGQUIT stops at once and leaves
    what is unfinished to another worker.
    """
    livekit = config.need_livekit()
    # In the environment these would win over the arguments.
    for name in ("LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"):
        os.environ.pop(name, None)
    logging.getLogger("livekit.agents").addFilter(_is_news)
    quits: asyncio.Queue[bool] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number, drain in ((signal.SIGTERM, True), (signal.SIGINT, True), (signal.SIGQUIT, False)):
        loop.add_signal_handler(number, quits.put_nowait, drain)

    agent_id = secrets.token_hex(8)
    async with (
        open_services(config, agent_id, embedder) as services,
        api.LiveKitAPI(livekit.url, livekit.api_key, livekit.api_secret) as server_api,
        aclosing(Voices(config)) as voices,
        aclosing(Worker(config, services, voices)) as worker,
        asyncio.TaskGroup() as group,
    ):
        services.transcriber = voices
        worker.on_registered(registered)
        work = group.create_task(worker.server.run())
        sweeping = group.create_task(sweep(services, server_api))
        learning = group.create_task(sweep_lessons(services, server_api, secrets.token_hex(8)))
        resting = group.create_task(voices.run())
        changes = watch(config.need_database_url(), lambda: worker.open, pooler=config.database_pooler)
        watching = group.create_task(changes)
        if await quits.get():
            draining = group.create_task(worker.drain())
            hurry = group.create_task(_hurry(quits))
            await asyncio.wait([draining, hurry], return_when=asyncio.FIRST_COMPLETED)
            draining.cancel()
            hurry.cancel()
        sweeping.cancel()
        learning.cancel()
        watching.cancel()
        resting.cancel()
        # Before anything that the answers need goes away, or they would end as failed.
        await worker.aclose()
        await work


async def _hurry(quits: asyncio.Queue[bool]) -> None:
    """Return at the second signal, whichever it is."""
    await quits.get()


def _is_news(record: logging.LogRecord) -> bool:
    """The framework warns that its own way of joining a room is not used; that is how it is meant here."""
    return "room connection was not established" not in record.getMessage()

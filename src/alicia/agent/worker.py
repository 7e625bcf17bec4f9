"""The worker: registers with LiveKit and takes a job for each room."""

import asyncio
import os
import signal
from collections.abc import Callable

from livekit.agents import AgentServer, JobContext, JobExecutorType

from alicia.config import Config

AGENT_NAME = "alicia"
JOBS_AT_ONCE = 20
DRAIN_SECONDS = 600


async def run(config: Config, registered: Callable[[], None] = lambda: None) -> None:
    """Work until told to stop; call `registered` when LiveKit first knows this worker.

    SIGTERM and SIGINT drain: running jobs end by themselves, new ones go to others. SIGQUIT stops at once and
    leaves what is unfinished to another worker.
    """
    livekit = config.need_livekit()
    # In the environment these would win over the arguments below.
    for name in ("LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"):
        os.environ.pop(name, None)
    server = AgentServer(
        ws_url=livekit.url,
        api_key=livekit.api_key,
        api_secret=livekit.api_secret,
        host="127.0.0.1",
        port=0,
        job_executor_type=JobExecutorType[config.agent_executor.upper()],
        num_idle_processes=0 if config.agent_executor == "thread" else 1,
        # By jobs, not by CPU: a machine that is busy talking must not turn its user away.
        load_fnc=lambda worker: min(len(worker.active_jobs) / JOBS_AT_ONCE, 1.0),
        drain_timeout=DRAIN_SECONDS,
    )

    def on_registered(*_: object) -> None:
        registered()

    server.rtc_session(_answer_room, agent_name=AGENT_NAME)
    server.on("worker_registered", on_registered)  # pyright: ignore[reportUnknownMemberType]

    quits: asyncio.Queue[bool] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number, drain in ((signal.SIGTERM, True), (signal.SIGINT, True), (signal.SIGQUIT, False)):
        loop.add_signal_handler(number, quits.put_nowait, drain)

    async with asyncio.TaskGroup() as group:
        work = group.create_task(server.run())
        if await quits.get():
            draining = group.create_task(server.drain())
            hurry = group.create_task(_hurry(quits))
            await asyncio.wait([draining, hurry], return_when=asyncio.FIRST_COMPLETED)
            draining.cancel()
            hurry.cancel()
        await server.aclose()
        await work


async def _hurry(quits: asyncio.Queue[bool]) -> None:
    """Return at the second signal, whichever it is."""
    await quits.get()


async def _answer_room(job: JobContext) -> None:
    await job.connect()

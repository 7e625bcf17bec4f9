"""The parts that a supervisor starts, watches and stops."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from alicia.errors import AliciaError
from alicia.local import notify
from alicia.local.livekit import LiveKit
from alicia.local.postgres import Postgres
from alicia.local.process import Process

START_LIMIT = 60.0


class PartError(AliciaError):
    """A part did not start; the text says why, `log` where to read more."""

    def __init__(self, name: str, reason: str, log: Path | None) -> None:
        # A server's own error may name it and its log already.
        subject = "" if reason.startswith(name) else f"{name}: "
        source = "" if log is None or str(log) in reason else f" (see {log})"
        super().__init__(f"{subject}{reason}{source}")
        self.name = name
        self.log = log


class Part(Protocol):
    """Something that runs. `needs` names the parts that must be ready before this one starts."""

    name: str
    needs: tuple[str, ...]
    log: Path | None

    async def start(self) -> str:
        """Start and wait until ready; return what a person may like to know, or nothing."""
        ...

    async def ended(self) -> str:
        """Wait for an end that nobody asked for, and say how it came."""
        ...

    async def stop(self) -> None:
        """Stop, also in the middle of a start."""
        ...


class PostgresPart:
    """The embedded PostgreSQL."""

    def __init__(self, server: Postgres) -> None:
        self.name = "PostgreSQL"
        self.needs: tuple[str, ...] = ()
        self.log: Path | None = server.log
        self._server = server

    async def start(self) -> str:
        made = await self._server.initialise()
        await self._server.start()
        await self._server.ready()
        return "data folder made" if made else ""

    async def ended(self) -> str:
        return await self._server.process.obituary()

    async def stop(self) -> None:
        await self._server.stop()


class LiveKitPart:
    """The embedded LiveKit server."""

    def __init__(self, server: LiveKit) -> None:
        self.name = "LiveKit"
        self.needs: tuple[str, ...] = ()
        self.log: Path | None = server.log
        self._server = server

    async def start(self) -> str:
        await self._server.start()
        await self._server.ready()
        return ""

    async def ended(self) -> str:
        return await self._server.process.obituary()

    async def stop(self) -> None:
        await self._server.stop(within=1.5)


class ProgramPart:
    """A Python program of ours that says `ready` through its last argument, a descriptor.

    `stop_signal` must make it end within `stop_within` seconds, or it is killed.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        needs: tuple[str, ...],
        log: Path,
        env: Mapping[str, str],
        stop_signal: signal.Signals = signal.SIGTERM,
        stop_within: float = 2.5,
    ) -> None:
        self.name = name
        self.needs = needs
        self.log: Path | None = log
        self._command = command
        self._log = log
        self._env = env
        self._stop_signal = stop_signal
        self._stop_within = stop_within
        self._process: Process | None = None
        self._ear: notify.Ear | None = None

    @property
    def ear(self) -> notify.Ear:
        """What the running child says."""
        assert self._ear is not None, "not started"  # noqa: S101
        return self._ear

    async def start(self) -> str:
        await self.launch()
        try:
            async with asyncio.timeout(START_LIMIT):
                if await self.ear.hear(notify.READY) is None:
                    raise PartError(self.name, f"{self.name} {await self.ended()}", self.log)
        except TimeoutError:
            raise PartError(
                self.name, f"{self.name} was not ready within {START_LIMIT:.0f} s", self.log
            ) from None
        return ""

    async def launch(self) -> None:
        """Start the child without waiting for it."""
        self._close_ear()
        self._ear = notify.Ear()
        self._process = Process.start(
            [*self._command, str(self._ear.descriptor)],
            log=self._log,
            env=self._env,
            descriptors=[self._ear.descriptor],
        )
        await self._ear.attach()

    async def ended(self) -> str:
        assert self._process is not None, "not started"  # noqa: S101
        return await self._process.obituary()

    async def stop(self) -> None:
        if self._process is not None:
            await self._process.stop(self._stop_signal, within=self._stop_within)
        self._close_ear()

    def _close_ear(self) -> None:
        if self._ear is not None:
            self._ear.close()


class WarmingPart(ProgramPart):
    """A program that counts as started at once and says `warm` later, with the seconds that it took."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        needs: tuple[str, ...],
        log: Path,
        env: Mapping[str, str],
        note: str,
        warmed: Callable[[str], None],
    ) -> None:
        super().__init__(name, command, needs=needs, log=log, env=env, stop_within=1.5)
        self._note = note
        self._warmed = warmed

    async def start(self) -> str:
        await self.launch()
        return self._note

    async def ended(self) -> str:
        if (seconds := await self.ear.hear(notify.WARM)) is not None:
            self._warmed(seconds)
        return await super().ended()


class StepPart:
    """Something done once at start, such as migrations or a look at a server that runs elsewhere."""

    def __init__(self, name: str, step: Callable[[], Awaitable[str]], *, needs: tuple[str, ...] = ()) -> None:
        self.name = name
        self.needs = needs
        self.log: Path | None = None
        self._step = step

    async def start(self) -> str:
        return await self._step()

    async def ended(self) -> str:
        return await asyncio.get_running_loop().create_future()

    async def stop(self) -> None:
        pass

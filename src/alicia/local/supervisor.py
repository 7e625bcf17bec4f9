"""Starts parts in the order of their needs, keeps them running, and stops them in reverse."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from alicia.errors import AliciaError
from alicia.local.part import Part, PartError

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
# A part that ran this long is not in a crash loop: its next restart is quick again.
STEADY = 60.0


class Report(Protocol):
    """Where the supervisor says what happens."""

    def starting(self, name: str) -> None:
        """A part begins to start."""
        ...

    def ready(self, name: str, seconds: float, note: str) -> None:
        """A part is ready."""
        ...

    def say(self, line: str) -> None:
        """Something a person should know, as a sentence."""
        ...


class Supervisor:
    """Runs a set of parts, which must name each other's needs without a circle."""

    def __init__(self, parts: Sequence[Part], report: Report) -> None:
        self._parts = parts
        self._report = report
        self._begun: set[str] = set()

    async def run(self, all_ready: Callable[[], None]) -> None:
        """Start everything, call `all_ready`, and watch until cancelled; stop everything in any case.

        Raises PartError if a part does not start.
        """
        try:
            await self._start()
            all_ready()
            async with asyncio.TaskGroup() as group:
                for part in self._parts:
                    group.create_task(self._keep(part))
        finally:
            await self._stop()

    async def _start(self) -> None:
        ready = {part.name: asyncio.Event() for part in self._parts}

        async def start(part: Part) -> None:
            for need in part.needs:
                await ready[need].wait()
            self._report.starting(part.name)
            began = asyncio.get_running_loop().time()
            self._begun.add(part.name)
            note = await self._attempt(part)
            self._report.ready(part.name, asyncio.get_running_loop().time() - began, note)
            ready[part.name].set()

        first: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as group:
                for part in self._parts:
                    group.create_task(start(part))
        except* PartError as failures:
            # One sentence for the person: the first failure, which cancelled the others.
            first = failures.exceptions[0]
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
        # Not in the clause above: what is raised there comes out in a group before Python 3.11.4.
        if first is not None:
            raise first from None

    async def _attempt(self, part: Part) -> str:
        try:
            return await part.start()
        except PartError:
            raise
        except (AliciaError, OSError) as error:
            raise PartError(part.name, str(error), part.log) from error

    async def _keep(self, part: Part) -> None:
        """Start the part again whenever it ends, waiting longer each time it does not last."""
        loop = asyncio.get_running_loop()
        delay = FIRST_DELAY
        while True:
            began = loop.time()
            how = await part.ended()
            if loop.time() - began > STEADY:
                delay = FIRST_DELAY
            self._report.say(f"{part.name} {how}. Starting it again in {delay:g} s (see {part.log}).")
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)
            try:
                await part.stop()
                await self._attempt(part)
            except PartError as failure:
                self._report.say(f"{failure}.")
            else:
                self._report.say(f"{part.name} runs again.")

    async def _stop(self) -> None:
        """Stop each part as soon as all that need it have stopped."""
        stopped = {part.name: asyncio.Event() for part in self._parts}

        async def stop(part: Part) -> None:
            for other in self._parts:
                if part.name in other.needs:
                    await stopped[other.name].wait()
            if part.name in self._begun:
                await part.stop()
            stopped[part.name].set()

        async with asyncio.TaskGroup() as group:
            for part in self._parts:
                group.create_task(stop(part))

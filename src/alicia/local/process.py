"""A child process that writes to a log file and dies with its parent, however its parent dies."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from alicia.local import leash

LOG_LIMIT = 10 * 1024 * 1024


class Process:
    """A running child, in a session of its own so that Ctrl-C in the terminal does not reach it.

    Bound to no event loop: it may be started under one and stopped under another, or under none.
    """

    def __init__(self, child: subprocess.Popen[bytes], log: Path, log_start: int) -> None:
        self._child = child
        self._log_start = log_start
        self.log = log

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        folder: Path | None = None,
        death_signal: signal.Signals = signal.SIGKILL,
        identity: str = "same",
        descriptors: Sequence[int] = (),
    ) -> Self:
        """Start `command`, appending its output to `log`.

        The child gets `death_signal` when the calling *thread* ends (the kernel counts threads), so call this
        from one that lives as long as the program. `identity` is explained in `leash`; `descriptors` are
        left open for the child.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        _rotate(log)
        with log.open("ab") as output:
            log_start = output.tell()
            child = subprocess.Popen(
                leashed(command, death_signal, identity),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if env is None else dict(env),
                cwd=folder,
                start_new_session=True,
                pass_fds=descriptors,
            )
        return cls(child, log, log_start)

    @property
    def pid(self) -> int:
        """The pid of the program itself: the leash becomes it."""
        return self._child.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while the child runs."""
        return self._child.poll()

    @property
    def alive(self) -> bool:
        """Whether the child still runs."""
        return self.returncode is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal; a child that has ended is left alone."""
        self._child.send_signal(number)

    async def wait(self) -> int:
        """Wait for the end of the child and return its exit code."""
        while (code := self.returncode) is None:
            await wait_for_end(self.pid)
        return code

    async def stop(self, number: signal.Signals = signal.SIGTERM, *, within: float = 5.0) -> bool:
        """Ask the child to end with `number`; kill its whole group after `within` seconds.

        Returns whether it ended by itself.
        """
        self.send(number)
        try:
            async with asyncio.timeout(within):
                await self.wait()
        except TimeoutError:
            await self.kill()
            return False
        return True

    async def kill(self) -> None:
        """End the child and all of its process group at once."""
        if self.alive:
            os.killpg(self.pid, signal.SIGKILL)
        await self.wait()

    def last_words(self, lines: int = 1) -> str:
        """Return the last lines that the child wrote, for a message that says why it ended."""
        with self.log.open("rb") as output:
            end = output.seek(0, os.SEEK_END)
            output.seek(max(self._log_start, end - 16_384))
            text = output.read().decode(errors="replace")
        return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])

    async def obituary(self) -> str:
        """Wait for the end of the child, then say how it ended and what it said last."""
        code = await self.wait()
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        words = self.last_words()
        return f"ended with exit code {code}" + (f": {words}" if words else "")


async def wait_for_end(pid: int) -> None:
    """Wait until a process has ended, our child or not."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    try:
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
    finally:
        os.close(descriptor)


def leashed(command: Sequence[str], death_signal: signal.Signals, identity: str) -> list[str]:
    """Return the command line that starts `command` on a leash held by this process."""
    # Isolated and without site-packages: nothing of the parent's Python set-up can slow or break the leash.
    python = [sys.executable, "-I", "-S", leash.__file__]
    return [*python, str(os.getpid()), str(int(death_signal)), identity, *command]


def _rotate(log: Path) -> None:
    """Keep one earlier log when this one has grown large."""
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(".1.log"))

"""A real `alicia up` in a home of its own, steered by a test."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import psutil

from alicia.local import ports

PATIENCE = 100.0


def eventually(condition: Callable[[], object], what: str, within: float = PATIENCE) -> None:
    """Wait until a condition of the outside world holds."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"not within {within:.0f} s: {what}"
        time.sleep(0.02)


def environment(home: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with only these settings of Alicia's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ALICIA_")}
    return kept | {"ALICIA_HOME": str(home), "ALICIA_LLM": "small", **settings}


def run_alicia(
    *arguments: str, home: Path, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command that ends by itself."""
    return subprocess.run(
        [sys.executable, "-m", "alicia.cli.main", *arguments],
        env=environment(home, settings or {}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def processes_of(home: Path) -> dict[int, str]:
    """Return every process that was started with this home, with its command line."""
    found: dict[int, str] = {}
    mark = f"ALICIA_HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # PostgreSQL's backends write their titles over their environment, but work in its data folder.
            ours = mark in (folder / "environ").read_bytes().split(b"\0")
            if ours or (folder / "cwd").readlink().is_relative_to(home):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


def _parent(pid: int) -> int | None:
    try:
        return psutil.Process(pid).ppid()
    except psutil.NoSuchProcess:
        return None


class Up:
    """`alicia up`, its output line by line, and its children. Use as a context manager.

    With `only_until`, nobody reads the output any more after a line that matches.
    """

    def __init__(
        self, home: Path, settings: Mapping[str, str] | None = None, *, only_until: str | None = None
    ) -> None:
        self._only_until = only_until
        self.home = home
        self.port = ports.choose()
        self.lines: list[str] = []
        self._settings = {"ALICIA_PORT": str(self.port), **(settings or {})}
        self._changed = threading.Condition()

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "alicia.cli.main", "up"],
            env=environment(self.home, self._settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        eventually(lambda: not processes_of(self.home), f"no process of {self.home} is left")

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                with self._changed:
                    self.lines.append(line.rstrip("\n"))
                    self._changed.notify_all()
                if self._only_until is not None and re.search(self._only_until, line):
                    break
        with self._changed:
            self._changed.notify_all()

    @property
    def output(self) -> str:
        """Everything said so far."""
        return "\n".join(self.lines)

    def wait_for(self, pattern: str, *, after: int = 0) -> str:
        """Wait for a line, from the given line number on, that matches; fail if the output ends first."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._find(pattern, after) is not None or not self._reader.is_alive(), PATIENCE
            )
            found = self._find(pattern, after)
        assert found is not None, f"no line matches {pattern!r} in:\n{self.output}"
        return found

    def _find(self, pattern: str, after: int) -> str | None:
        return next((line for line in self.lines[after:] if re.search(pattern, line)), None)

    def ready(self) -> Self:
        """Wait until everything runs."""
        self.wait_for("^Alicia is ready: ")
        return self

    def get(self, path: str) -> tuple[int, str]:
        """Ask the HTTP server; status 0 when it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def children(self) -> dict[str, int]:
        """Return the pid of each child by the word that tells it apart."""
        words = {
            "PostgreSQL": "/bin/postgres ",
            "LiveKit": "livekit-server",
            "Language model": "alicia.local.llm",
            "API": "alicia.cli.main api",
            "Agent": "alicia.cli.main agent",
        }
        alive = processes_of(self.home)
        found: dict[str, int] = {}
        for name, word in words.items():
            like = [pid for pid, command in alive.items() if word in command and "leash.py" not in command]
            # One that PostgreSQL has just forked looks like itself for a moment, and may be gone by now.
            for pid in like:
                if (parent := _parent(pid)) is not None and parent not in like:
                    found[name] = pid
        return found

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join()
        return code

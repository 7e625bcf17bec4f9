"""How `alicia up` shows what its parts do: live lines in a terminal, plain ones elsewhere."""

import os
import sys
import time
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from alicia.local.supervisor import Report

WIDTH = 15


class Progress(Report, Protocol):
    """A report that ends with a line of its own when everything is ready."""

    def finished(self, line: str) -> None:
        """Everything is ready."""
        ...

    def close(self) -> None:
        """Leave the terminal as it should be."""
        ...


class PlainProgress:
    """One line for each thing that has happened."""

    def starting(self, name: str) -> None:
        pass

    def ready(self, name: str, seconds: float, note: str) -> None:
        self.say(_line(name, seconds, note))

    def say(self, line: str) -> None:
        try:
            print(line, flush=True)
        except OSError:
            # Whoever read this has gone, as in `alicia up | head`; the stack goes on without.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def finished(self, line: str) -> None:
        self.say(line)

    def close(self) -> None:
        pass


class LiveProgress:
    """A line for each part, with a clock that runs until the part is ready."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began: dict[str, float] = {}
        self._spinners: dict[str, Spinner] = {}
        self._done: dict[str, Text] = {}
        self._live: Live | None = Live(console=console, get_renderable=self._render, refresh_per_second=12)
        self._live.start()

    def starting(self, name: str) -> None:
        self._began[name] = time.monotonic()
        self._spinners[name] = Spinner("dots")

    def ready(self, name: str, seconds: float, note: str) -> None:
        self._done[name] = Text.assemble(("✓ ", "green"), _line(name, seconds, note))
        self._spinners.pop(name, None)

    def say(self, line: str) -> None:
        self._console.print(line, highlight=False, soft_wrap=True)

    def finished(self, line: str) -> None:
        self.close()
        self._console.print(line, style="bold", highlight=False, soft_wrap=True)

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _render(self) -> Group:
        now = time.monotonic()
        for name, spinner in self._spinners.items():
            spinner.update(text=_line(name, now - self._began[name], "…"))
        return Group(*self._done.values(), *self._spinners.values())


def open_progress() -> Progress:
    """Return the way of showing that suits this output."""
    console = Console()
    return LiveProgress(console) if console.is_terminal else PlainProgress()


def _line(name: str, seconds: float, note: str) -> str:
    return f"{name:<{WIDTH}} {seconds:5.1f} s  {note or 'ready'}"

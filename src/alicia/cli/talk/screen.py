"""A terminal on which two threads write: one the person's line, the other what happens meanwhile."""

import readline
import shutil
import threading
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

PROMPT: Final = "› "
MARK: Final = "…"
"""Stands where words will come."""


class Screen:
    """Lines and streams of text that never tear the line that is being typed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.RLock()
        self._prompting = False
        self._at_start = True
        self._held = ""
        self._waiting = self._marked = False
        # Otherwise every line of a text that is pasted would be a message of its own.
        readline.parse_and_bind("set enable-bracketed-paste on")

    def line(self, text: str, style: str = "") -> None:
        """A line of its own."""
        with self._lock:
            self._finish()
            self._put(f"{text}\n", style)

    def aside(self, text: str) -> None:
        """A dim line about something beside what is said."""
        self.line(f"  · {text}", "dim")

    def wait(self) -> None:
        """Show that words are on their way, until they come or `finish` says that none will."""
        with self._lock:
            self._waiting = True
            self._mark()

    def stream(self, text: str) -> None:
        """Go on with the text that is being said; while somebody types, it comes line by line."""
        with self._lock:
            self._waiting = False
            if self._prompting:
                whole, newline, rest = (self._held + text).rpartition("\n")
                self._held = rest
                if newline:
                    self._put(whole + newline)
            else:
                self._put(text)

    def finish(self) -> None:
        """The text that was being said is complete."""
        with self._lock:
            self._waiting = False
            self._unmark()
            self._finish()

    def ask(self, typed: str = "") -> str:
        """Let the person write a line, which begins with what was typed already.

        EOFError and KeyboardInterrupt as `input` raises them.
        """
        with self._lock:
            self._unmark()
            self._finish()
            self._prompting = True
        readline.set_startup_hook((lambda: readline.insert_text(typed)) if typed else None)
        try:
            return input(PROMPT)
        finally:
            with self._lock:
                self._prompting = False
                self._at_start = True

    def _finish(self) -> None:
        held, self._held = self._held, ""
        if held:
            self._put(f"{held}\n")
        elif not self._at_start and not self._prompting:
            self._put("\n")

    def _put(self, text: str, style: str = "") -> None:
        self._unmark()
        if self._prompting:
            self._clear_line()
        self._console.print(Text(text, style=style), end="", soft_wrap=True, highlight=False)
        self._at_start = text.endswith("\n")
        if self._prompting:
            self._console.file.write(PROMPT + readline.get_line_buffer())
        self._console.file.flush()
        self._mark()

    def _mark(self) -> None:
        if self._waiting and self._at_start and not self._prompting and not self._marked:
            self._console.print(Text(MARK, style="dim"), end="")
            self._console.file.flush()
            self._marked = True

    def _unmark(self) -> None:
        if self._marked:
            self._console.file.write("\r\x1b[K")
            self._marked = False

    def _clear_line(self) -> None:
        """Take the line that is being typed off the screen, all its rows."""
        columns = shutil.get_terminal_size().columns
        lines = (PROMPT + readline.get_line_buffer()).split("\n")
        rows = len(lines) - 1 + sum(cell_len(line) // columns for line in lines)
        up = f"\x1b[{rows}A" if rows else ""
        self._console.file.write(f"{up}\r\x1b[J")

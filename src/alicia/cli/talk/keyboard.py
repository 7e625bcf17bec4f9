"""Keys that are pressed while an answer is being given: whole lines count at once, the rest is kept."""

import codecs
import os
import re
import select
import sys
import termios
from collections.abc import Generator, Iterator
from contextlib import contextmanager

_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z~]|O.|.)?")


class Keyboard:
    """`lines` waits for keys; `wake`, from any thread, ends the wait."""

    def __init__(self) -> None:
        self.typed = ""
        """What was typed after the last whole line; `take` it for the next prompt."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._woken, self._waker = os.pipe()

    def close(self) -> None:
        os.close(self._woken)
        os.close(self._waker)

    def wake(self) -> None:
        os.write(self._waker, b"\0")

    def take(self) -> str:
        typed, self.typed = self.typed, ""
        return typed

    def lines(self) -> list[str]:
        """The whole lines that were typed; waits for keys, which may make none, or for `wake`."""
        stdin = sys.stdin.fileno()
        ready, _, _ = select.select([stdin, self._woken], [], [])
        if self._woken in ready:
            os.read(self._woken, 4096)
        if stdin not in ready:
            return []
        data = os.read(stdin, 4096)
        if not data:
            raise EOFError
        return list(self._take_in(self._decoder.decode(data)))

    def _take_in(self, text: str) -> Iterator[str]:
        for character in _SEQUENCE.sub("", text):
            if character in "\r\n":
                line = self.take()
                if line.strip():
                    yield line
            elif character in "\x7f\b":
                self.typed = self.typed[:-1]
            elif character == "\x15":
                self.typed = ""
            elif character.isprintable() or character == "\t":
                self.typed += character


@contextmanager
def unechoed() -> Generator[None]:
    """Let keys be read one by one, and not shown: the answer has the screen."""
    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    quiet = termios.tcgetattr(stdin)
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(stdin, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(stdin, termios.TCSADRAIN, before)

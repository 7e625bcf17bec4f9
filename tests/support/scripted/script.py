"""The words in which a test writes an answer: text, reasoning, tool calls, pauses, gates and failures."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal

import jsonschema

_TOKEN = re.compile(r"\s*\S+|\s+\Z")


def tokens(text: str) -> list[str]:
    """Cut text into words with the space before them, as models send it; joined, they are the text."""
    return _TOKEN.findall(text)


async def within(future: "Future[Any]", seconds: float) -> Any:
    """Wait for another thread's future without ever cancelling it."""
    return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), seconds)


class Gate:
    """A place where the server waits until the test opens it.

    `await gate.reached()` returns once the server stands there; everything before it has then been sent.
    """

    def __init__(self) -> None:
        self._reached: Future[None] = Future()
        self._opened: Future[None] = Future()

    def open(self) -> None:
        """Let the server go on. Opening twice does no harm, nor does opening before it is reached."""
        if not self._opened.done():
            self._opened.set_result(None)

    async def reached(self, seconds: float = 20) -> None:
        await within(self._reached, seconds)

    async def pass_through(self) -> None:
        """The server's side."""
        if not self._reached.done():
            self._reached.set_result(None)
        await asyncio.shield(asyncio.wrap_future(self._opened))


@dataclass(frozen=True, slots=True)
class Text:
    """Answer text, sent a word at a time, or in the given pieces, `every` seconds."""

    text: str
    every: float = 0.0
    pieces: Sequence[str] | None = None

    def parts(self) -> Sequence[str]:
        return tokens(self.text) if self.pieces is None else self.pieces


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thoughts, sent as deltas of their own field."""

    text: str
    every: float = 0.0
    field: Literal["reasoning_content", "reasoning"] = "reasoning_content"

    def parts(self) -> Sequence[str]:
        return tokens(self.text)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run a tool; its arguments are sent in pieces, as real servers do."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict[str, Any])
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """One server-sent event with exactly this data, well-formed or not."""

    data: str


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop the connection here. As the first step: before any byte of the answer, headers included."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Send nothing more until the client leaves. As the first step: not even headers."""


@dataclass(frozen=True, slots=True)
class Fail:
    """As the first step: answer with this HTTP status. Later: an error event in mid-stream."""

    status: int = 500
    message: str = "the script says no"
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """End with another reason than the one that follows from the steps."""

    reason: str = "stop"


Step = Text | Reasoning | ToolCall | Raw | Pause | Gate | Cut | Hang | Fail | Finish


class Script:
    """One answer: steps in order. Plain strings are `Text`."""

    def __init__(self, *steps: Step | str) -> None:
        self.steps: tuple[Step, ...] = tuple(Text(step) if isinstance(step, str) else step for step in steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)


class Held(Script):
    """Text whose every word waits for the test: `release()` lets the next one go."""

    def __init__(self, text: str) -> None:
        self.words = tokens(text)
        self.gates = [Gate() for _ in self.words]
        self._released = 0
        steps: list[Step] = []
        for gate, word in zip(self.gates, self.words, strict=True):
            steps += [gate, Text(word, pieces=[word])]
        super().__init__(*steps)

    def release(self, count: int = 1) -> None:
        """Let the next `count` words go."""
        for gate in self.gates[self._released : self._released + count]:
            gate.open()
        self._released += count

    def release_all(self) -> None:
        self.release(len(self.gates))

    async def sent(self, count: int, seconds: float = 20) -> None:
        """Wait until `count` words have been written to the connection."""
        if count < len(self.gates):
            await self.gates[count].reached(seconds)


@dataclass(slots=True)
class Rule:
    """An answer that waits for its request."""

    script: Script
    matches: Callable[[str], bool]
    once: bool
    value: object = None

    def fits(self, schema: dict[str, Any]) -> bool:
        """Whether a request with this schema may have the answer."""
        try:
            jsonschema.validate(self.value, schema)
        except jsonschema.ValidationError:
            return self.value is None
        return True

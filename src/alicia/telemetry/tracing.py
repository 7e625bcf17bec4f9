"""Spans: what a turn is made of, in time, with ids that travel in its envelopes.

Every turn has a trace: the client's, where it sent one's id along, else one of its own. What is exported is
another matter: without a recorder a span is two random numbers and a clock.
"""

import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self

from msgspec import Struct

from alicia.telemetry import metrics

Stage = Literal["transcription", "recall", "model", "tool", "speech", "commit"]

TRACE_ID: Final = "messaging.trace_id"
TURN_ID: Final = "messaging.span_id"
SPAN_ID: Final = "otel_span"
COUNTER: Final = "otel_span_counter"


class Context(Struct, frozen=True):
    """Where in which trace something belongs."""

    trace_id: int
    span_id: int

    @classmethod
    def of(cls, meta: Mapping[str, Any] | None) -> "Context | None":
        """What an envelope's meta names as the parent; None when it names none that is valid."""
        if not meta:
            return None
        trace_id, span_id = _number(meta.get(TRACE_ID), 32), _number(meta.get(TURN_ID), 16)
        return cls(trace_id, span_id) if trace_id and span_id else None


class Recording(Protocol):
    """A span on its way to where traces are collected."""

    @property
    def context(self) -> Context: ...

    def end(self, error: BaseException | None) -> None: ...


class Recorder(Protocol):
    """Sends spans off; `alicia.telemetry.export` has the one that does."""

    def start(
        self, name: str, parent: Context | None, attributes: Mapping[str, str | int], ago: float = 0.0
    ) -> Recording:
        """Begin a span, so many seconds ago."""
        ...


_recorder: Recorder | None = None
_current: Final[ContextVar["Span | None"]] = ContextVar("alicia_span", default=None)


def record(recorder: Recorder | None) -> None:
    """From now on every span is sent there."""
    global _recorder
    _recorder = recorder


class Span:
    """Use it as a context manager, in one task."""

    __slots__ = (
        "_attributes",
        "_began",
        "_count",
        "_name",
        "_parent",
        "_recording",
        "_token",
        "context",
        "turn",
    )

    def __init__(self, name: str, attributes: Mapping[str, str | int], parent: Context | None = None) -> None:
        self._name = name
        self._attributes = attributes
        self._parent = parent
        self._began = 0.0
        self._token: Token[Span | None] | None = None
        self._recording: Recording | None = None
        self._count = 0
        self.context: Context | None = None
        """None outside of a turn."""
        self.turn: Span = self
        """The span of the whole turn."""

    def __enter__(self) -> Self:
        self._began = perf_counter()
        outer = _current.get()
        if self._name not in _stages:
            self._trace(self._parent)
        elif outer is not None:
            self.turn = outer.turn
            self._trace(outer.context)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._name in _stages:
            _stages[self._name].observe(perf_counter() - self._began)
        if self._token is not None:
            _current.reset(self._token)
            if self._recording is not None:
                self._recording.end(error)

    def meta(self) -> dict[str, Any]:
        """What the next envelope of this span carries."""
        if self.context is None or self.turn.context is None:
            return {}
        self._count += 1
        return {
            TRACE_ID: f"{self.context.trace_id:032x}",
            TURN_ID: f"{self.turn.context.span_id:016x}",
            SPAN_ID: f"{self.context.span_id:016x}",
            COUNTER: self._count,
        }

    def _trace(self, parent: Context | None) -> None:
        if _recorder is not None:
            self._recording = _recorder.start(self._name, parent, self._attributes)
            self.context = self._recording.context
        else:
            self.context = _mint(parent)
        self._token = _current.set(self)


def span(stage: Stage, **attributes: str | int) -> Span:
    """A stage of the turn that is under way. Attributes are ids and numbers, never content."""
    return Span(stage, attributes)


def past(stage: Stage, seconds: float, **attributes: str | int) -> None:
    """Add to the trace a stage that ended just now, before it was known to be part of this turn."""
    current = _current.get()
    if _recorder is not None and current is not None:
        _recorder.start(stage, current.context, attributes, seconds).end(None)


def turn(name: Literal["message", "answer"], parent: Context | None = None, **attributes: str | int) -> Span:
    """The taking of a user's message, or its answer, which goes on in the same trace."""
    return Span(name, attributes, parent)


def here() -> Span | None:
    """The span that is under way, to go on in from another task; None outside of a turn."""
    return _current.get()


@contextmanager
def within(span: Span | None) -> Generator[None]:
    """Go on in a span of another task, for as long as the block runs."""
    token = _current.set(span)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def apart() -> Generator[None]:
    """For what is part of no turn, such as an erasure: a trace of its own, of which nothing is exported."""
    alone = Span("message", {})
    alone.context = _mint(None)
    with within(alone):
        yield


def meta() -> dict[str, Any]:
    """What the next envelope of the span that is under way carries; nothing outside of a turn."""
    current = _current.get()
    return current.meta() if current else {}


_stages: Final = {
    stage: metrics.stages.labels(stage)
    for stage in ("transcription", "recall", "model", "tool", "speech", "commit")
}


def _mint(parent: Context | None) -> Context:
    trace_id = parent.trace_id if parent else secrets.randbits(128) | 1
    return Context(trace_id, secrets.randbits(64) | 1)


def _number(value: object, digits: int) -> int | None:
    """A W3C id: so many hexadecimal digits, not all of them zero."""
    if not isinstance(value, str) or len(value) != digits or not value.isascii() or not value.isalnum():
        return None
    try:
        return int(value, 16) or None
    except ValueError:
        return None

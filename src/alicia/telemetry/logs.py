"""Logs: static text with ids as fields, one JSON object a line, or readable lines in a terminal."""

import logging
import re
import sys
import traceback
from types import TracebackType
from typing import Any, Final, cast

import structlog
from structlog.typing import EventDict, ExcInfo, Processor

from alicia.telemetry import tracing

TALKATIVE: Final = {
    # Every request with its whole address, passwords and keys in it.
    "httpx": logging.WARNING,
    "httpx2": logging.WARNING,
    # Ids that open a server's sessions, and what servers answer. "client" is the MCP SDK's too.
    "mcp": logging.CRITICAL,
    "client": logging.CRITICAL,
}
"""From where on libraries are listened to that would tell secrets or content."""

_FRAMES: Final = 40
_VALUES: Final = re.compile(r"[\n(]")


def set_up(level: str = "info", *, terminal: bool | None = None) -> None:
    """Send the logs of Alicia and of its libraries to stderr in one format; call once, at the start."""
    readable = sys.stderr.isatty() if terminal is None else terminal
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _with_trace,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, _without_values],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.ExceptionRenderer(_places),
                _renderer(readable),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.getLogger("alicia").setLevel(level.upper())
    if root.level < logging.INFO:
        # Libraries that talk to models write whole prompts into their debug logs.
        root.setLevel(logging.INFO)
    for name, least in TALKATIVE.items():
        logging.getLogger(name).setLevel(least)
    sys.excepthook = _crashed


def _renderer(readable: bool) -> Processor:
    if not readable:
        return structlog.processors.JSONRenderer()
    # Its own way with exceptions would show the values of all variables.
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


def _with_trace(logger: Any, name: str, event: EventDict) -> EventDict:
    """Name the span that a line belongs to, so that logs and traces can be laid side by side."""
    current = tracing.here()
    if current is not None and current.context is not None:
        event["trace_id"] = f"{current.context.trace_id:032x}"
        event["span_id"] = f"{current.context.span_id:016x}"
    return event


def _without_values(logger: Any, name: str, event: EventDict) -> EventDict:
    """Cut what asyncio says of a failure before it prints results, exceptions and arguments."""
    if event.get("logger") == "asyncio":
        event["event"] = _VALUES.split(event["event"], maxsplit=1)[0]
    return event


def _places(exc_info: ExcInfo) -> str:
    """What went wrong where, and what led to it.

    Without the texts of exceptions: PostgreSQL's quote rows, model servers' prompts, HTTP's addresses.
    """
    lines: list[str] = []
    seen: set[int] = set()
    left: list[tuple[str, BaseException]] = [("", exc_info[1])]
    while left:
        how, error = left.pop()
        if id(error) in seen:
            continue
        seen.add(id(error))
        lines.append(f"{how}{type(error).__module__}.{type(error).__qualname__}")
        for frame in traceback.extract_tb(error.__traceback__, limit=-_FRAMES):
            lines.append(f"  {frame.filename}:{frame.lineno} in {frame.name}")
        before = error.__context__ if error.__cause__ is None else error.__cause__
        if before is not None and (error.__cause__ is not None or not error.__suppress_context__):
            left.append(("after ", before))
        if isinstance(error, BaseExceptionGroup):
            group = cast("BaseExceptionGroup[BaseException]", error)
            left += [("in it ", each) for each in reversed(group.exceptions)]
    return "\n".join(lines)


def _crashed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """In place of Python's own last words, which are an exception's text."""
    logging.getLogger("alicia").critical("crashed", exc_info=(kind, error, trace))

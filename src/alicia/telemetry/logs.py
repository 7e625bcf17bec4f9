"""Logs: static text with ids as fields, one JSON object a line, or readable lines in a terminal."""

import logging
import sys
from typing import Any

import structlog
from structlog.typing import EventDict

from alicia.telemetry import tracing


def _with_trace(logger: Any, name: str, event: EventDict) -> EventDict:
    """Name the span that a line belongs to, so that logs and traces can be laid side by side."""
    current = tracing.here()
    if current is not None and current.context is not None:
        event["trace_id"] = f"{current.context.trace_id:032x}"
        event["span_id"] = f"{current.context.span_id:016x}"
    return event


def set_up(level: str = "info", *, terminal: bool | None = None) -> None:
    """Send the logs of Alicia and of its libraries to stderr in one format; call once, at the start."""
    readable = sys.stderr.isatty() if terminal is None else terminal
    shared: list[structlog.typing.Processor] = [
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
    renderer: Any = structlog.dev.ConsoleRenderer() if readable else structlog.processors.JSONRenderer()
    errors: list[structlog.typing.Processor] = [] if readable else [structlog.processors.format_exc_info]
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *errors, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.getLogger("alicia").setLevel(level.upper())
    if root.level < logging.INFO:
        # Libraries that talk to models write whole prompts into their debug logs.
        root.setLevel(logging.INFO)

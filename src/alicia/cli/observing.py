"""What a serving command sets up so that it can be watched: logs, traces and metrics."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from alicia.config import Config


@contextmanager
def observed(config: Config, service: str, *, metrics_port: int | None = None) -> Generator[None]:
    """Logs always; traces where a collector is named; metrics at a port of the loopback interface."""
    from alicia.telemetry import logs

    logs.set_up(config.log_level)
    with ExitStack() as stack:
        if config.otlp_endpoint is not None:
            # Only now: it takes a third of a second, and most do not want it.
            from alicia.telemetry import tracing
            from alicia.telemetry.export import Exporter

            exporter = Exporter(service)
            stack.callback(exporter.close)
            tracing.record(exporter)
        if metrics_port is not None:
            from alicia.telemetry import scrape

            stack.callback(scrape.serve(metrics_port))
        yield

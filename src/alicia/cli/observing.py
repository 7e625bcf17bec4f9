"""What a serving command sets up so that it can be watched: logs, traces and metrics."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from alicia.config import Config


@contextmanager
def observed(config: Config, service: str) -> Generator[None]:
    """Logs always; traces where a collector is named; metrics where a port is."""
    from alicia.telemetry import logs

    logs.set_up(config.log_level)
    with ExitStack() as stack:
        if config.traces_url is not None:
            # Only now: it takes a third of a second, and most do not want it.
            from alicia.telemetry import tracing
            from alicia.telemetry.export import Exporter

            exporter = Exporter(service, config.traces_url)
            stack.callback(exporter.close)
            tracing.record(exporter)
        if config.metrics_port is not None:
            from alicia.telemetry import scrape

            stack.callback(scrape.serve(config.metrics_host, config.metrics_port))
        yield

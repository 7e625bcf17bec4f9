"""The numbers, as Prometheus asks for them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client import REGISTRY, generate_latest, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
LOOPBACK: Final = "127.0.0.1"


def text() -> bytes:
    """All numbers of this process."""
    return generate_latest(REGISTRY)


def serve(port: int) -> Callable[[], None]:
    """Answer at this port of the loopback interface, from a thread of its own; the result ends that."""
    server, thread = start_http_server(port, LOOPBACK)

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return close


class PoolUse(Collector):
    """How busy a pool of connections is, asked for when the numbers are: `stats` tells it."""

    def __init__(self, stats: Callable[[], Mapping[str, int]]) -> None:
        self._stats = stats
        REGISTRY.register(self)

    def close(self) -> None:
        REGISTRY.unregister(self)

    def collect(self) -> Iterator[Metric]:
        stats = self._stats()
        size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
        connections = GaugeMetricFamily(
            "alicia_pool_connections",
            "Connections to PostgreSQL, used and idle.",
            labels=["state"],
        )
        connections.add_metric(["used"], size - idle)
        connections.add_metric(["idle"], idle)
        yield connections
        waiting = stats.get("requests_waiting", 0)
        yield GaugeMetricFamily("alicia_pool_waiting", "Callers that wait for a connection.", value=waiting)

"""The numbers, as Prometheus asks for them."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeAlias

from prometheus_client import REGISTRY, generate_latest, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

Stats: TypeAlias = Callable[[], Mapping[str, int]]

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4


def text() -> bytes:
    """All numbers of this process."""
    return generate_latest(REGISTRY)


def serve(host: str, port: int) -> Callable[[], None]:
    """Answer there, from a thread of its own; the result ends that."""
    server, thread = start_http_server(port, host)

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return close


@contextmanager
def pool_use(stats: Stats) -> Generator[None]:
    """Show how busy a pool of connections is; `stats` is asked when the numbers are."""
    _pools.append(stats)
    try:
        yield
    finally:
        _pools.remove(stats)


class _PoolUse(Collector):
    def collect(self) -> Iterator[Metric]:
        told = [stats() for stats in _pools]
        size, idle, waiting = (
            sum(each.get(name, 0) for each in told)
            for name in ("pool_size", "pool_available", "requests_waiting")
        )
        connections = GaugeMetricFamily(
            "alicia_pool_connections", "Connections to PostgreSQL, used and idle.", labels=["state"]
        )
        connections.add_metric(["used"], size - idle)
        connections.add_metric(["idle"], idle)
        yield connections
        yield GaugeMetricFamily("alicia_pool_waiting", "Callers that wait for a connection.", value=waiting)


_pools: Final[list[Stats]] = []
REGISTRY.register(_PoolUse())

"""The numbers, as Prometheus asks for them."""

import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from alicia.config import Config
from alicia.local import ports
from alicia.telemetry import scrape


def shown() -> dict[str, float]:
    families = text_string_to_metric_families(scrape.text().decode())
    return {
        f"{sample.name} {sample.labels.get('state', '')}".strip(): sample.value
        for family in families
        for sample in family.samples
        if family.name.startswith("alicia_pool")
    }


def test_pools_are_added_up_for_as_long_as_they_are_open() -> None:
    before = shown()
    with (
        scrape.pool_use(lambda: {"pool_size": 5, "pool_available": 2, "requests_waiting": 4}),
        scrape.pool_use(lambda: {"pool_size": 1, "pool_available": 1}),
    ):
        now = shown()
        assert now["alicia_pool_connections used"] - before["alicia_pool_connections used"] == 3
        assert now["alicia_pool_connections idle"] - before["alicia_pool_connections idle"] == 3
        assert now["alicia_pool_waiting"] - before["alicia_pool_waiting"] == 4
    assert shown() == before


def test_metrics_are_shown_at_the_address_that_was_set() -> None:
    given = {"ALICIA_METRICS_HOST": "127.0.0.2", "ALICIA_METRICS_PORT": str(ports.choose())}
    config = Config.from_environ(given)
    assert config.metrics_port
    close = scrape.serve(config.metrics_host, config.metrics_port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.2:{config.metrics_port}/metrics") as answer:
            assert b"alicia_pool_waiting" in answer.read()
    finally:
        close()
    assert Config.from_environ({}).metrics_host == "127.0.0.1"

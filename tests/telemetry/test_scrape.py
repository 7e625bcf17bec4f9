"""The numbers of a pool of connections, as Prometheus asks for them."""

from prometheus_client.parser import text_string_to_metric_families

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

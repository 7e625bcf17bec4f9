"""`/metrics`, as Prometheus reads it."""

import secrets

import httpx2
from prometheus_client.parser import text_string_to_metric_families

from alicia.api.measured import METHODS
from support.callers import bearer


async def samples(client: httpx2.AsyncClient) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


async def test_requests_are_counted_by_call_and_never_by_who_or_what(
    anybody: httpx2.AsyncClient, user: str
) -> None:
    def count(
        of: dict[tuple[str, frozenset[tuple[str, str]]], float], method: str, call: str, status: str
    ) -> float:
        labels = frozenset({"method": method, "call": call, "status": status}.items())
        return of.get(("alicia_request_seconds_count", labels), 0)

    before = await samples(anybody)
    talk = "/api/v1/conversations/ac_" + "0" * 21
    await anybody.get(talk, headers=bearer(user))
    await anybody.get(talk, headers=bearer(f"not-{user}"))
    await anybody.get("/api/v1/me")
    await anybody.get(f"/{user}")
    await anybody.request(f"X{secrets.token_hex(4)}", "/api/v1/me")
    after = await samples(anybody)

    for method, call, status, more in (
        ("GET", "/api/v1/conversations/{conversation_id}", "404", 2),
        ("GET", "/api/v1/me", "401", 1),
        ("GET", "other", "404", 1),
        ("other", "other", "405", 1),
    ):
        assert count(after, method, call, status) - count(before, method, call, status) == more
    methods = {value for _, labels in after for name, value in labels if name == "method"}
    assert methods <= {*METHODS, "other"}
    assert not any(user in value for _, labels in after for _, value in labels)
    assert ("alicia_pool_connections", frozenset({("state", "idle")})) in after

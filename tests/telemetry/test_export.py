"""What OpenTelemetry's standard variables do: where spans go, which of them, and nothing at all without."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from alicia.config import Config
from alicia.telemetry import tracing
from alicia.telemetry.export import Exporter
from alicia.telemetry.tracing import Context, span, turn
from support.collector import Collector

GENERAL, TRACES = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
# A sampler that takes half of the traces takes the first of these and leaves the second.
TAKEN, LEFT = Context(1, 7), Context(2**64 - 1, 7)

OBSERVED = """
import json, sys, threading
from alicia.cli.observing import observed
from alicia.config import Config
from alicia.telemetry import tracing

with observed(Config.from_environ(), "alicia-agent"):
    with tracing.turn("answer"), tracing.span("model"):
        meta = tracing.meta()
    print(json.dumps({
        "meta": meta,
        "sdk": [name for name in sys.modules if name.startswith("opentelemetry")],
        "threads": threading.active_count(),
    }))
"""


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    for name in os.environ:
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
    with Collector() as opened:
        yield opened


def exported(collector: Collector, parent: Context | None) -> tuple[list[str], dict[str, Any]]:
    """Which spans of an answer within this parent are sent, and what the envelopes of the last one carry."""
    exporter = Exporter("test", f"{collector.url}/v1/traces")
    tracing.record(exporter)
    try:
        with turn("answer", parent), span("model"), span("commit"):
            meta = tracing.meta()
    finally:
        tracing.record(None)
        exporter.close()
    return sorted(each.name for each in collector.spans), meta


def observed(settings: dict[str, str]) -> dict[str, Any]:
    """What a process that is set up like an agent has to show."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", OBSERVED], env=environ | settings, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ({}, None),
        ({GENERAL: "http://here:4318"}, "http://here:4318/v1/traces"),
        ({GENERAL: "http://here:4318/"}, "http://here:4318/v1/traces"),
        ({TRACES: "https://there/spans"}, "https://there/spans"),
        ({GENERAL: "http://here:4318", TRACES: "https://there/spans"}, "https://there/spans"),
        ({GENERAL: "http://here:4318", TRACES: ""}, "http://here:4318/v1/traces"),
        ({GENERAL: "http://here:4318", "OTEL_SDK_DISABLED": "false"}, "http://here:4318/v1/traces"),
        ({GENERAL: "http://here:4318", "OTEL_SDK_DISABLED": "True"}, None),
        ({TRACES: "https://there/spans", "OTEL_SDK_DISABLED": "true"}, None),
    ],
)
def test_spans_go_where_the_standard_variables_say(settings: dict[str, str], url: str | None) -> None:
    assert Config.from_environ(settings).traces_url == url


@pytest.mark.parametrize(
    ("sampler", "argument", "parent", "is_taken"),
    [
        ("", "", None, True),
        ("", "", LEFT, True),
        ("always_off", "", None, False),
        ("parentbased_always_off", "", None, False),
        ("parentbased_always_off", "", TAKEN, False),
        ("parentbased_traceidratio", "0", None, False),
        ("parentbased_traceidratio", "0.5", TAKEN, True),
        ("parentbased_traceidratio", "0.5", LEFT, False),
        ("traceidratio", "0.5", TAKEN, True),
        ("traceidratio", "0.5", LEFT, False),
    ],
)
def test_a_turn_is_exported_whole_or_not_at_all_as_the_sampler_says(
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    sampler: str,
    argument: str,
    parent: Context | None,
    is_taken: bool,
) -> None:
    if sampler:
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", sampler)
        monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", argument)
    names, meta = exported(collector, parent)
    assert names == (["answer", "commit", "model"] if is_taken else [])
    context = Context.of(meta)
    assert context, "the envelopes name the trace all the same"
    assert parent is None or context.trace_id == parent.trace_id


@pytest.mark.parametrize("settings", [{}, {GENERAL: "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}])
def test_without_a_collector_opentelemetry_is_not_even_imported(settings: dict[str, str]) -> None:
    shown = observed(settings)
    assert shown["sdk"] == []
    assert shown["threads"] == 1
    assert Context.of(shown["meta"]), "ids are minted all the same"


def test_the_address_for_traces_alone_is_enough(collector: Collector) -> None:
    shown = observed({TRACES: f"{collector.url}/spans"})
    assert sorted(each.name for each in collector.spans) == ["answer", "model"]
    assert {each.trace_id.hex() for each in collector.spans} == {shown["meta"][tracing.TRACE_ID]}

"""The Grafana dashboard asks for what is counted, and for all of it."""

import json
import re
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from alicia.telemetry import metrics, scrape

FILE = Path(__file__).parents[2] / "deploy" / "grafana" / "alicia.json"
# What Prometheus is shown of each kind of metric, after its name.
ENDS = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}


def counted() -> dict[str, tuple[str, frozenset[str]]]:
    """Every name that Prometheus is shown, with the metric that it is part of and that one's labels."""
    assert scrape.text()
    families = {
        each: frozenset[str](each._labelnames)  # pyright: ignore
        for each in vars(metrics).values()
        if isinstance(each, Counter | Gauge | Histogram)
    }
    shown: dict[str, tuple[str, frozenset[str]]] = {}
    for metric, labels in families.items():
        (family,) = metric.describe()
        shown |= {f"{family.name}{end}": (family.name, labels) for end in ENDS[family.type]}
    for family in REGISTRY.collect():
        if family.name.startswith("alicia_pool"):
            shown[family.name] = (family.name, frozenset(family.samples[0].labels))
    return shown


def panels() -> list[dict[str, Any]]:
    return json.loads(FILE.read_text())["panels"]


def asked(expression: str) -> set[str]:
    return set(re.findall(r"\balicia_\w+", expression))


def test_the_names_are_those_that_prometheus_is_shown() -> None:
    registry = CollectorRegistry()
    for made in (
        Counter("alicia_a", "A.", registry=registry),
        Gauge("alicia_b", "B.", registry=registry),
        Histogram("alicia_c", "C.", registry=registry),
    ):
        (family,) = made.describe()
        lines = generate_latest(registry).decode().splitlines()
        shown = {re.split(r"[ {]", line)[0] for line in lines if line.startswith(family.name)}
        assert shown - {f"{family.name}_created"} == {f"{family.name}{end}" for end in ENDS[family.type]}


def test_the_dashboard_asks_for_every_metric_and_for_no_other() -> None:
    known = counted()
    wanted = {name for panel in panels() for target in panel["targets"] for name in asked(target["expr"])}
    assert wanted <= set(known)
    assert {known[name][0] for name in wanted} == {metric for metric, _ in known.values()}


def test_the_dashboard_groups_by_labels_that_there_are() -> None:
    known = counted()
    for panel in panels():
        for target in panel["targets"]:
            ((metric, labels),) = {known[name] for name in asked(target["expr"])}
            groups = ",".join(re.findall(r"by \(([^)]*)\)", target["expr"]))
            grouped = {label.strip() for label in groups.split(",") if label.strip()} - {"le", "instance"}
            assert grouped <= labels, f"{metric}: {target['expr']}"
            shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"])) - {"instance"}
            assert shown <= grouped, target["legendFormat"]


def test_the_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells

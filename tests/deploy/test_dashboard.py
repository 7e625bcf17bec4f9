"""The Grafana dashboard asks for what is counted, and for all of it."""

import json
import re
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY, Counter, Gauge, Histogram

from alicia.telemetry import metrics, scrape

FILE = Path(__file__).parents[2] / "deploy" / "grafana" / "alicia.json"
SUFFIXES = ("_bucket", "_count", "_sum", "_total")


def counted() -> dict[str, frozenset[str]]:
    """Every metric of ours, with its labels."""
    named = {
        str(each.describe()[0].name): frozenset[str](each._labelnames)  # pyright: ignore
        for each in vars(metrics).values()
        if isinstance(each, Counter | Gauge | Histogram)
    }
    collected = [family for family in REGISTRY.collect() if family.name.startswith("alicia_pool")]
    return named | {family.name: frozenset(family.samples[0].labels) for family in collected}


def panels() -> list[dict[str, Any]]:
    return json.loads(FILE.read_text())["panels"]


def asked(expression: str) -> set[str]:
    names = set(re.findall(r"\balicia_\w+", expression))
    return {next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name) for name in names}


def test_the_dashboard_asks_for_every_metric_and_for_no_other() -> None:
    assert scrape.text()
    wanted = {name for panel in panels() for target in panel["targets"] for name in asked(target["expr"])}
    assert wanted == set(counted())


def test_the_dashboard_groups_by_labels_that_there_are() -> None:
    known = counted()
    for panel in panels():
        for target in panel["targets"]:
            (name, *others) = asked(target["expr"])
            assert not others, target["expr"]
            groups = ",".join(re.findall(r"by \(([^)]*)\)", target["expr"]))
            labels = {label.strip() for label in groups.split(",") if label.strip()} - {"le", "instance"}
            assert labels <= known[name], target["expr"]
            shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"])) - {"instance"}
            assert shown <= labels, target["legendFormat"]


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

"""The report of the benchmarks is made of what they left, and every benchmark is in it."""

from pathlib import Path

import pytest

from catalogue import BENCH, BENCHMARKS, EXTRA, HELPERS, RESULTS
from drawing import bars, lines
from machine import MEASURED, keep
from report import REPORT, build, limits


def test_every_script_is_a_benchmark_in_the_catalogue_or_known_to_be_none() -> None:
    named = {each.name for each in BENCHMARKS}
    assert named.isdisjoint(HELPERS)
    assert {path.stem for path in BENCH.glob("*.py")} == named | HELPERS


def test_every_benchmark_keeps_its_results_under_its_own_name() -> None:
    for each in BENCHMARKS:
        source = each.script.read_text()
        helpers = [BENCH.joinpath(f"{name}.py").read_text() for name in HELPERS if f"from {name} " in source]
        assert any(each.results.name in text for text in (source, *helpers)), each.name


def test_the_report_names_the_results_of_every_benchmark() -> None:
    for text in (build(), REPORT.read_text()):
        assert [each for each in BENCHMARKS if f"results/{each.name}.md" not in text] == []
        assert all(f"results/{name}.md" in text for name in EXTRA)


def test_the_report_shows_every_picture_that_was_drawn() -> None:
    text = build()
    assert [each.name for each in RESULTS.glob("*.svg") if f"](results/{each.name})" not in text] == []


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    text = build(tmp_path)
    assert all(f"results/{each.name}.md: not measured yet" in text for each in BENCHMARKS)


@pytest.mark.parametrize(
    ("row", "met"),
    [
        ("| a | 1.00 × | ≤ 1.5 × |", True),
        ("| a | 1.60 × | ≤ 1.5 × |", False),
        ("| a | 29,999 a second | ≥ 30,000 a second |", False),
        ("| a | 30,000 a second | ≥ 30,000 a second |", True),
        ("| a | 300 ms | < 300 ms |", False),
        ("| a | none | none |", True),
        ("| a | some, missed | none |", False),
    ],
)
def test_a_limit_is_met_or_missed_as_the_figures_say(row: str, met: bool) -> None:
    (limit,) = limits("any", f"# Any\n\n| limit | measured | wanted |\n|---|---:|---:|\n{row}\n")
    assert limit.met is met
    assert "missed" not in limit.measured


def test_results_say_where_they_were_measured(tmp_path: Path) -> None:
    keep(tmp_path / "any.md", "# Any\n\n`bench/any.py`\n\ntext\n")
    first, blank, measured, *rest = (tmp_path / "any.md").read_text().splitlines()
    assert (first, blank) == ("# Any", "")
    assert measured.startswith(MEASURED)
    for word in ("cores", "GiB", "Python", "PostgreSQL", "LiveKit", "commit"):
        assert word in measured
    assert rest == ["", "`bench/any.py`", "", "text"]


def test_pictures_hold_what_they_are_given_and_nothing_that_breaks_them() -> None:
    picture = bars("A < B", [("Alicia", 2.0, "2 ms"), ("other & more", 4.0, "4 ms")])
    assert picture.startswith("<svg ")
    assert "A &lt; B" in picture
    assert "other &amp; more" in picture
    drawn = lines("Growth", [1, 1000], {"p50": [1.0, 2.0], "p95": [2.0, 3.0]}, "ms", "rows")
    assert drawn.count("<polyline ") == 2

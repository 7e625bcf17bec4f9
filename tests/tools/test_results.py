"""Results: plain JSON that the database and the wire can hold, and cut where they are too large."""

import math
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alicia.tools.definition import ToolError
from alicia.tools.results import cut, plain

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner, max_size=8),
    max_leaves=40,
)


def test_what_json_has_no_word_for_is_replaced() -> None:
    value = {"nul": "a\0b", "big": 2**70, "none": math.nan, "pair": (1, 2), "half": "\ud800", 3: 4}
    assert plain(value) == {
        "nul": "a\ufffdb",
        "big": str(2**70),
        "none": None,
        "pair": [1, 2],
        "half": "?",
        "3": 4,
    }


def test_structs_and_moments_become_maps_and_text() -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    assert plain({"at": moment, "size": 2**70}) == {"at": "2026-01-02T00:00:00Z", "size": str(2**70)}


def test_what_is_no_data_at_all_is_an_error() -> None:
    with pytest.raises(ToolError):
        plain({"function": print})


def test_what_is_nested_without_end_is_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = "\0"
    for _ in range(200):
        deep = [deep]
    for value in (endless, deep, msgspec.json.decode("[" * 150 + "]" * 150)):
        with pytest.raises(ToolError):
            plain(value)


@given(JSON)
def test_plain_values_can_be_written_everywhere(value: Any) -> None:
    made = plain(value)
    assert b"\\u0000" not in msgspec.json.encode(made).replace(b"\\\\", b"")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(made)) == made


@given(JSON, st.integers(0, 400))
def test_a_cut_result_fits_and_says_that_it_is_cut(value: Any, limit: int) -> None:
    made = plain(value)
    short, truncated = cut(made, limit)
    assert truncated is (len(msgspec.msgpack.encode(made)) > limit)
    assert short == made if not truncated else len(msgspec.msgpack.encode(short)) <= max(limit, 1)


def test_a_large_field_does_not_push_out_the_small_ones() -> None:
    short, truncated = cut({"text": "x" * 5_000_000, "pages": 7, "title": "Report"}, 30_000)
    assert truncated
    assert short["pages"] == 7
    assert short["title"] == "Report"
    assert 25_000 < len(short["text"]) < 30_000
    assert short["text"].endswith("…")


def test_a_long_list_keeps_its_beginning() -> None:
    short, truncated = cut([{"n": n, "text": "y" * 100} for n in range(10_000)], 30_000)
    assert truncated
    assert [item["n"] for item in short[:3]] == [0, 1, 2]
    assert 200 < len(short) < 300

"""Ids: a prefix that says what they name, and 21 characters of chance."""

import pytest

from alicia import ids
from alicia.errors import InvalidId


def test_prefixes_are_those_of_the_scheme() -> None:
    assert sorted(ids.PREFIXES.values()) == sorted(
        ["ac", "am", "ams", "aa", "amem", "amu", "at", "atu", "ar", "aucc", "amt"]
    )


def test_a_new_id_can_be_parsed_and_is_never_the_same() -> None:
    made = {ids.new(ids.MessageId) for _ in range(1_000)}
    assert len(made) == 1_000
    assert all(ids.parse(ids.MessageId, each) == each and len(each) == 24 for each in made)
    assert {letter for each in made for letter in each[3:]} == set(ids.ALPHABET)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "am_",
        "am_short",
        "am_" + "x" * 22,
        "ams_" + "x" * 21,
        "am_" + "x" * 20 + "+",
        "am_" + "x" * 21 + "\n",
        "am_" + "é" * 21,
        None,
        5,
        b"am_" + b"x" * 21,
    ],
)
def test_anything_else_is_refused_with_what_was_expected_and_what_came(text: object) -> None:
    with pytest.raises(InvalidId, match=r"expected am_ and 21 characters .*, got ") as caught:
        ids.parse(ids.MessageId, text)
    assert repr(text)[:30] in str(caught.value)

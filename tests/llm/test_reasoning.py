"""Thoughts told from the answer, however the pieces are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alicia.llm.reasoning import Paragraphs, ThinkTags


def split(pieces: list[str]) -> tuple[str, str]:
    tags = ThinkTags()
    parts = [part for piece in pieces for part in tags.feed(piece)] + list(tags.flush())
    return "".join(text for thought, text in parts if thought), "".join(
        text for thought, text in parts if not thought
    )


def paragraphs(pieces: list[str]) -> list[str]:
    collector = Paragraphs()
    return [whole for piece in pieces for whole in collector.feed(piece)] + list(collector.flush())


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("No thoughts.", "", "No thoughts."),
        ("<think>a</think>b", "a", "b"),
        ("\n<think>\na\n</think>\n\nb", "\na\n", "b"),
        ("<thinking>a</thinking> b", "a", "b"),
        ("<think>never ends", "never ends", ""),
        ("no beginning</think>b", "", "no beginningb"),
        ("one <think>a</think> two", "a", "one two"),
        ("one<think>a</think> two", "a", "one two"),
        ("<think>a</think><think>b</think>c", "ab", "c"),
        ("1 < 2 <thin and <b>bold</b>", "", "1 < 2 <thin and <b>bold</b>"),
        ("ends with <think", "", "ends with <think"),
        ("<think></think>x", "", "x"),
    ],
)
def test_think_blocks_are_told_from_the_answer_at_every_cut(text: str, thought: str, answer: str) -> None:
    assert split([text]) == (thought, answer)
    assert split(list(text)) == (thought, answer)
    for cut in range(len(text)):
        assert split([text[:cut], text[cut:]]) == (thought, answer)


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", " ", "\n", "word", "<"])), st.data()
)
def test_any_cutting_gives_the_same_parts(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))) | {0, len(text)})
    assert split([text[a:b] for a, b in pairwise(cuts)]) == split([text])


def test_a_blank_line_ends_a_paragraph() -> None:
    text = "\n\nOne.\nStill one.\n \n\nTwo.\n  - indented\n"
    expected = ["One.\nStill one.", "Two.\n  - indented"]
    assert paragraphs([text]) == expected
    assert paragraphs(list(text)) == expected


def test_nothing_but_blank_space_is_no_paragraph() -> None:
    assert paragraphs(["\n", " \n\n", "\t"]) == []

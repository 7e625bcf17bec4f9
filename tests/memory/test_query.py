"""What is looked for: the message, and what it leans on."""

import pytest

from alicia.llm.messages import Message
from alicia.memory.query import LONGEST, make_query

BEFORE = [
    Message("system", "You are Alicia."),
    Message("user", "Tell me about my sister Ana."),
    Message("assistant", "Ana is a nurse in Porto."),
]


def test_a_message_that_stands_alone_is_the_whole_query() -> None:
    query = make_query("Which restaurants near my office serve ramen?", BEFORE)
    assert query is not None
    assert query.text == "Which restaurants near my office serve ramen?"


@pytest.mark.parametrize(
    "message", ["What about her?", "And where does she live?", "Why?", "How about Porto?", "Is that far?"]
)
def test_a_message_that_leans_on_the_last_turns_brings_them_in(message: str) -> None:
    query = make_query(message, BEFORE)
    assert query is not None
    assert query.message == message
    assert query.context == "Tell me about my sister Ana.\nAna is a nurse in Porto."
    assert query.text == f"{message}\n{query.context}"


def test_without_turns_before_it_a_leaning_message_is_the_query() -> None:
    query = make_query("What about her?")
    assert query is not None
    assert query.text == "What about her?"


def test_a_long_message_says_itself_what_it_is_about() -> None:
    query = make_query(
        "I would like to know whether the train that leaves at nine stops in Porto today", BEFORE
    )
    assert query is not None
    assert query.context == ""


@pytest.mark.parametrize(
    "message", ["Hello!", "Thanks, that's great.", "ok", "Good night", "", " \n", "👍", "How are you?"]
)
def test_greetings_and_thanks_need_no_memory(message: str) -> None:
    assert make_query(message, BEFORE) is None


def test_of_a_very_long_message_the_end_counts() -> None:
    query = make_query(f"{'padding ' * 1000} Where did I leave my keys?")
    assert query is not None
    assert len(query.message) <= LONGEST
    assert query.message.endswith("Where did I leave my keys?")

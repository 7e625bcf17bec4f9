"""Which words are believed, and which only say that somebody listens."""

import pytest

from alicia.speech.backchannel import is_backchannel
from alicia.speech.listener import agreement
from alicia.speech.recogniser import credible


@pytest.mark.parametrize("text", ["You", "you.", "", "...", "You, you"])
def test_what_models_hear_in_noise_is_not_believed(text: str) -> None:
    assert not credible(text, 3.0)


@pytest.mark.parametrize(
    ("text", "seconds", "believed"),
    [
        ("Yes.", 0.3, True),
        ("Stop!", 0.25, True),
        ("You will need", 0.3, False),
        ("Perhaps.", 0.3, False),
        ("Perhaps.", 0.6, True),
        ("What is the tallest mountain?", 2.0, True),
    ],
)
def test_a_moment_of_sound_is_believed_only_as_a_word_that_stands_alone(
    text: str, seconds: float, believed: bool
) -> None:
    assert credible(text, seconds) is believed


@pytest.mark.parametrize(
    "text", ["Mhm.", "Mm-hmm.", "Uh-huh", "Yeah, yeah.", "Okay.", "I see.", "Hmm", "Oh!", ""]
)
def test_a_listener_s_noises_do_not_ask_for_anything(text: str) -> None:
    assert is_backchannel(text)


@pytest.mark.parametrize(
    "text", ["Stop.", "No.", "Wait, what?", "Yes, but tell me more.", "Why?", "Okay stop"]
)
def test_who_asks_denies_or_stops_wants_to_speak(text: str) -> None:
    assert not is_backchannel(text)


def test_confidence_is_how_much_of_the_beginning_was_heard_twice() -> None:
    assert agreement("Go forward ten", "Go forward ten metres.") == 1.0
    assert agreement("Go for a moment", "Go forward ten metres.") == pytest.approx(1 / 3, abs=0.01)
    assert agreement("", "Go forward") is None

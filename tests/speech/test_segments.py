"""Where speech begins, pauses and ends, told from scripted likelihoods."""

from collections.abc import Iterable, Iterator

import numpy as np

from alicia.speech.segments import RATE, WINDOW, Edge, Segmenter


def heard(*stretches: tuple[float, float]) -> tuple[list[tuple[Edge, float]], Segmenter]:
    """What is noticed, and when, in stretches of so many seconds with so much likelihood of speech."""
    likely: Iterator[float] = iter(
        [value for seconds, value in stretches for _ in range(round(seconds * RATE / WINDOW))]
    )
    segmenter = Segmenter(lambda _: next(likely))
    found: list[tuple[Edge, float]] = []
    for index in range(sum(round(seconds * RATE / WINDOW) for seconds, _ in stretches)):
        window = np.full(WINDOW, index, np.int16)
        found += [(edge, (index + 1) * WINDOW / RATE) for edge in segmenter.feed(window)]
        if found and found[-1][0] is Edge.ENDED and segmenter.speaking:
            segmenter.take()
    return found, segmenter


def edges(found: Iterable[tuple[Edge, float]]) -> list[Edge]:
    return [edge for edge, _ in found]


def test_speech_begins_within_a_tenth_of_a_second_and_ends_after_silence() -> None:
    found, segmenter = heard((1, 0), (1, 1), (2, 0))
    assert edges(found) == [Edge.BEGUN, Edge.PAUSED, Edge.ENDED]
    assert found[0][1] - 1 < 0.1
    assert not segmenter.speaking


def test_a_crackle_is_no_speech() -> None:
    assert heard((1, 0), (0.03, 1), (1, 0))[0] == []


def test_a_short_pause_is_noticed_but_does_not_end_the_segment() -> None:
    found, segmenter = heard((0.5, 0), (1, 1), (0.5, 0), (1, 1), (0.5, 0))
    assert edges(found) == [Edge.BEGUN, Edge.PAUSED, Edge.PAUSED]
    assert segmenter.speaking
    assert abs(segmenter.seconds - 2) < 0.25


def test_the_fall_of_a_voice_is_told_from_its_words() -> None:
    segmenter = Segmenter(lambda _: 1.0)
    counts: list[tuple[int, int]] = []
    for level in (3000, 3000, 3000, 3000, 200, 200, 800, 200):
        list(segmenter.feed(np.full(WINDOW, -level, np.int16)))
        counts.append((segmenter.loud, segmenter.faint))
    spoken = counts[3][0]
    assert counts[3:] == [(spoken, 0), (spoken, 1), (spoken, 2), (spoken + 1, 0), (spoken + 1, 1)]


def test_a_segment_has_the_moment_before_its_onset() -> None:
    _, segmenter = heard((1, 0), (0.5, 1))
    first = int(segmenter.segment[0]) * WINDOW / RATE
    assert 0.5 < first < 0.8


def test_who_never_stops_is_cut_at_the_first_breath_after_a_while() -> None:
    found, _ = heard((16, 1), (0.2, 0), (12, 1))
    assert Edge.ENDED in edges(found)
    assert 15.9 < next(moment for edge, moment in found if edge is Edge.ENDED) < 16.5


def test_even_without_a_breath_a_segment_has_an_end() -> None:
    found, _ = heard(
        (26, 1),
    )
    assert edges(found)[:2] == [Edge.BEGUN, Edge.ENDED]

"""A sentence's sound while it is made and played, and how much of its text a part of it has said."""

import asyncio

import numpy as np
import pytest

from alicia import ids
from alicia.agent.clip import FRAME, Clip
from alicia.protocol.messages import AssistantSentence
from alicia.speech.sound import decode
from alicia.speech.synthesiser import RATE, Manner

TEXT = " Four is the number of seasons."


def clip(text: str = TEXT, *, opens: bool = False) -> Clip:
    sentence = AssistantSentence(
        conversation_id=ids.new(ids.ConversationId),
        id=ids.new(ids.SentenceId),
        previous_id=ids.new(ids.MessageId),
        sequence=1,
        text=text,
        is_final=False,
    )
    return Clip(sentence, text.strip(), Manner(), opens=opens)


def ended(seconds: float) -> Clip:
    made = clip()
    made.add(bytes(round(2 * RATE * seconds)))
    made.end()
    return made


@pytest.mark.parametrize(
    ("seconds", "heard"),
    [
        (0.0, ""),
        (0.4, " Four"),
        (1.0, " Four is the"),
        (1.9, " Four is the number of"),
        (2.0, TEXT),
        (3.0, TEXT),
    ],
)
def test_what_was_heard_ends_with_a_word(seconds: float, heard: str) -> None:
    assert TEXT[: ended(2.0).characters(round(seconds * RATE))] == heard


def test_of_a_sentence_that_is_still_being_made_no_more_is_heard_than_was_played() -> None:
    made = clip()
    made.add(bytes(RATE))
    assert made.characters(RATE // 2) < len(TEXT)


async def test_sound_goes_out_as_soon_as_there_are_twenty_milliseconds_of_it() -> None:
    made = clip()
    first = asyncio.create_task(made.frame())
    made.add(bytes(2 * FRAME - 2))
    await asyncio.sleep(0)
    assert not first.done()
    made.add(b"\x01\x02")
    assert await first == bytes(2 * FRAME - 2) + b"\x01\x02"


async def test_the_last_moment_is_filled_up_with_silence() -> None:
    made = clip()
    made.add(b"\x01\x02")
    made.end()
    assert await made.frame() == b"\x01\x02" + bytes(2 * FRAME - 2)
    made.offset += FRAME
    assert await made.frame() is None


async def test_what_nobody_will_hear_ends_at_once() -> None:
    made = clip()
    waiting = asyncio.create_task(made.frame())
    await asyncio.sleep(0)
    made.drop()
    assert await waiting is None


async def test_all_of_it_is_kept_however_little_was_played() -> None:
    sound, duration_ms = await ended(1.5).recording()
    assert duration_ms == 1500
    assert abs(len(decode(sound)) / 16_000 - 1.5) < 0.05


def samples(*values: int) -> bytes:
    return np.array(values, "<i2").tobytes()


def quiet(milliseconds: int) -> bytes:
    """Not silence: what a voice breathes before it speaks."""
    return samples(*[-200, 100] * (RATE * milliseconds // 2000))


VOICE = samples(*[9_000, -9_000] * RATE)


async def played(made: Clip) -> bytes:
    pieces: list[bytes] = []
    while (frame := await made.frame()) is not None:
        pieces.append(frame)
        made.offset += FRAME
    return b"".join(pieces)


def cut(*pieces: bytes, opens: bool = True) -> Clip:
    made = clip(opens=opens)
    for piece in pieces:
        made.add(piece)
    made.end()
    return made


@pytest.mark.parametrize("size", [2, 3, 701, 48_001])
async def test_nobody_waits_for_the_silence_before_an_answer(size: int) -> None:
    sound = quiet(30) + VOICE
    made = cut(*(sound[start : start + size] for start in range(0, len(sound), size)))
    left = quiet(5) + VOICE
    assert (await played(made))[: len(left)] == left
    assert (await made.recording())[1] == 2_005
    assert made.characters(2_005 * RATE // 1000) == len(TEXT)


async def test_the_pause_before_a_later_sentence_stays() -> None:
    sound = quiet(30) + VOICE
    assert (await played(cut(sound, opens=False)))[: len(sound)] == sound


async def test_nothing_sounds_before_the_first_word_is_there() -> None:
    made = clip(opens=True)
    first = asyncio.create_task(made.frame())
    made.add(quiet(100))
    await asyncio.sleep(0)
    assert not first.done()
    made.add(VOICE)
    assert await first == (quiet(5) + VOICE)[: 2 * FRAME]


@pytest.mark.parametrize(("made", "left"), [(20, 20), (299, 299), (300, 5), (1_000, 705)])
async def test_a_sound_that_is_all_quiet_is_not_lost(made: int, left: int) -> None:
    only = cut(quiet(made))
    assert len(await played(only)) >= len(quiet(left))
    assert (await only.recording())[1] == left


async def test_what_is_loud_at_once_is_left_as_it_is() -> None:
    assert (await played(cut(VOICE)))[: len(VOICE)] == VOICE

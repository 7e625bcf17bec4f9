"""Sound that is kept, and sound that comes from anywhere."""

import numpy as np
import pytest

from alicia.speech.segments import RATE
from alicia.speech.sound import Recorder, UnreadableSound, decode, wav


def tone(seconds: float, rate: int) -> bytes:
    moments = np.arange(round(seconds * rate)) / rate
    return (8000 * np.sin(2 * np.pi * 440 * moments)).astype(np.int16).tobytes()


@pytest.mark.parametrize("rate", [16_000, 24_000])
def test_what_is_recorded_in_pieces_comes_back_whole(rate: int) -> None:
    recorder, sound = Recorder(rate), tone(2.0, rate)
    for start in range(0, len(sound), 1000):
        recorder.write(sound[start : start + 1000])
    data = recorder.close()
    back = decode(data)
    assert recorder.duration_ms == 2000
    assert len(data) < len(sound) / 4
    assert data.startswith(b"OggS")
    assert abs(len(back) / RATE - 2.0) < 0.05
    assert 6000 < np.abs(back).max() < 10_000


def test_a_recording_of_nothing_is_empty() -> None:
    recorder = Recorder(16_000)
    recorder.write(b"")
    assert (recorder.close(), recorder.duration_ms) == (b"", 0)


def test_a_wav_of_any_rate_is_read() -> None:
    assert abs(len(decode(wav(tone(1.0, 44_100), 44_100))) - RATE) < 200


@pytest.mark.parametrize("data", [b"", b"noise", b"OggS" + bytes(100), wav(b"", 16_000)[:20]])
def test_what_is_no_sound_is_told(data: bytes) -> None:
    with pytest.raises(UnreadableSound, match="Ogg"):
        decode(data)

"""Sound as it is kept: Ogg Opus, written while it comes; and back to samples whatever a client records."""

import importlib
import io
import wave
from typing import Any, Final

import numpy as np

from alicia.speech.segments import RATE, Samples

FORMAT: Final = "audio/ogg; codecs=opus"
BIT_RATE: Final = 32_000
LONGEST_CLIP: Final = 600
"""Seconds of a recorded clip that are listened to."""


# Its own types leave out half of what is used here.
av: Any = importlib.import_module("av")


class UnreadableSound(ValueError):
    """Bytes from outside that are no sound, or in a format that nobody here knows."""


class Recorder:
    """Takes samples of one channel and 16 bits, at 16 or 24 kHz, and makes a small file of them."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._samples = 0
        self._file = io.BytesIO()
        self._container: Any = av.open(self._file, "w", format="ogg")
        self._stream: Any = self._container.add_stream(
            "libopus",
            rate=rate,
            layout="mono",
            # At a moderate effort nobody hears the difference, and it takes half the time.
            options={"application": "voip", "compression_level": "5"},
        )
        self._stream.bit_rate = BIT_RATE

    @property
    def duration_ms(self) -> int:
        return round(self._samples * 1000 / self._rate)

    def write(self, pcm: bytes) -> None:
        """Add samples; takes a hundredth of the time that they last."""
        samples = np.frombuffer(pcm, np.int16)
        if not len(samples):
            return
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = self._rate
        frame.pts = self._samples
        self._samples += len(samples)
        self._container.mux(self._stream.encode(frame))

    def close(self) -> bytes:
        """The whole file."""
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.getvalue()


def decode(data: bytes, rate: int = RATE) -> Samples:
    """The samples of a recording in any usual format, as one channel; UnreadableSound when it is none."""
    pieces: list[Samples] = []
    length = 0
    try:
        with av.open(io.BytesIO(data)) as container:
            resampler = av.AudioResampler(format="s16", layout="mono", rate=rate)
            for frame in container.decode(audio=0):
                for piece in resampler.resample(frame):
                    pieces.append(piece.to_ndarray().reshape(-1))
                    length += piece.samples
                if length > rate * LONGEST_CLIP:
                    break
            pieces += [piece.to_ndarray().reshape(-1) for piece in resampler.resample(None)]
    except (av.FFmpegError, IndexError, ValueError) as error:
        raise UnreadableSound("This is no sound that can be read: send Ogg Opus, WebM or WAV.") from error
    if not pieces:
        return np.zeros(0, np.int16)
    return np.concatenate(pieces)


def wav(pcm: bytes, rate: int) -> bytes:
    """Samples of one channel and 16 bits as a WAV file."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm)
    return out.getvalue()

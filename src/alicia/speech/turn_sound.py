"""Whether a voice sounds as if it had come to its end: LiveKit's model, asked about the right moment.

The model judges the last 1.2 s of sound, and wants a short silence at their end. The longer that is, the less
it takes any sentence for finished: of seven recorded ones all get 0.7 or more after 0.15 s, and most less
than its threshold of 0.36 after 0.6 s. LiveKit asks when its own detector of voices has heard silence
for 0.2 s, which comes the later the slower a voice falls and the busier the machine is.
"""

from typing import Final

import numpy as np
from livekit.agents import APIConnectOptions, inference, utils
from livekit.agents.inference.eot.base import (
    TurnDetectorOptions,
    _BaseStreamingTurnDetectorStream,  # pyright: ignore[reportPrivateUsage]
)
from livekit.agents.inference.eot.transports import _LocalTransport  # pyright: ignore[reportPrivateUsage]
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS

from alicia.speech.segments import FAINT, RATE, Samples

HELD: Final = 2 * RATE
JUDGED: Final = RATE * 12 // 10
AFTER: Final = RATE * 15 // 100
"""How much of the silence after a voice the model is given."""
_STEP: Final = RATE // 100


def until_silence(samples: Samples) -> Samples:
    """The sound until shortly after it became faint, and no more of it than is judged."""
    whole = len(samples) // _STEP
    steps = samples[: whole * _STEP].reshape(whole, _STEP).astype(np.int32)
    levels = np.abs(steps).max(axis=1, initial=0)
    loud = np.flatnonzero(levels > FAINT * levels.max(initial=0))
    end = (int(loud[-1]) + 1) * _STEP + AFTER if len(loud) else len(samples)
    return samples[:end][-JUDGED:]


class TurnDetector(inference.TurnDetector):
    """LiveKit's local model for the ends of turns."""

    def __init__(self) -> None:
        super().__init__(version="v1-mini")

    def stream(
        self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> _BaseStreamingTurnDetectorStream:
        return _BaseStreamingTurnDetectorStream(
            detector=self, opts=self._opts, transport=_Transport(opts=self._opts), model=self.model
        )


class _Transport(_LocalTransport):
    def __init__(self, *, opts: TurnDetectorOptions) -> None:
        super().__init__(opts=opts)
        self._buf = utils.AudioArrayBuffer(buffer_size=HELD, sample_rate=RATE)

    async def _predict(self, request_id: str, pcm_snapshot: Samples) -> None:
        await super()._predict(request_id, until_silence(pcm_snapshot))

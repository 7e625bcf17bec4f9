"""Silero's voice activity detection, the one inside LiveKit's local models."""

from livekit import local_inference

from alicia.speech.segments import Samples


def load() -> None:
    """Load the models for voice activity and the end of a turn; takes a moment, so call it in a thread."""
    local_inference.init_vad()
    local_inference.init_eot()


class Activity:
    """How likely windows of 512 samples are speech; each stream of sound needs one of its own."""

    def __init__(self) -> None:
        self._model = local_inference.VAD()

    def __call__(self, window: Samples) -> float:
        return self._model.predict(window)

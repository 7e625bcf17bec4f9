"""Sound that is made before its sentence may be said."""

import asyncio
from collections.abc import AsyncGenerator

from alicia.errors import ModelUnavailable
from alicia.speech.synthesiser import Manner, Synthesiser


class Ahead:
    """Begins at once, as one of these tasks; `pieces` gives what there is of it, and the rest as it comes."""

    def __init__(self, text: str, manner: Manner, synthesiser: Synthesiser, tasks: asyncio.TaskGroup) -> None:
        self._text, self._manner = text, manner
        self._pieces: asyncio.Queue[bytes | ModelUnavailable | None] = asyncio.Queue()
        self._making = tasks.create_task(self._make(synthesiser))

    def fits(self, text: str, manner: Manner) -> bool:
        """Whether this is the sound of that text."""
        return (text, manner) == (self._text, self._manner)

    def drop(self) -> None:
        """Nobody wants it."""
        self._making.cancel()

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            while (piece := await self._pieces.get()) is not None:
                if isinstance(piece, ModelUnavailable):
                    raise piece
                yield piece
        finally:
            self.drop()

    async def _make(self, synthesiser: Synthesiser) -> None:
        try:
            async for sound in synthesiser.speak(self._text, self._manner):
                self._pieces.put_nowait(sound)
            self._pieces.put_nowait(None)
        except ModelUnavailable as error:
            # Whoever wants the sound is told; perhaps nobody does.
            self._pieces.put_nowait(error)

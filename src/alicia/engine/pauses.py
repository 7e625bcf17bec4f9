"""The pauses of all conversations of a worker, for models that serve one request at a time."""

import asyncio
from typing import Protocol


class Worker(Protocol):
    """Whoever works in a conversation's pauses."""

    def put_off(self) -> None:
        """Leave the model at once, and go on in the next pause."""
        ...


class Pauses:
    """With `one_by_one`, a question in any conversation ends what is done in the pauses of all of them.

    On one machine there is usually one model with room for one request: what is asked in one tab must not
    wait for what is learned from another. Models elsewhere serve many at once.
    """

    def __init__(self, *, one_by_one: bool) -> None:
        self._one_by_one = one_by_one
        self._changed = asyncio.Event()
        self._asking: set[Worker] = set()
        self._working: set[Worker] = set()

    def asked(self, where: Worker) -> None:
        """Somebody waits for an answer in this conversation."""
        if self._one_by_one:
            self._asking.add(where)
            self._changed.set()
            for each in self._working - {where}:
                each.put_off()

    def answered(self, where: Worker) -> None:
        """Nobody does any more."""
        self._asking.discard(where)
        self._changed.set()

    def free(self, where: Worker) -> bool:
        """Whether nobody waits for an answer in another conversation."""
        return not self._asking - {where}

    async def change(self) -> None:
        """Wait until somebody asks or is answered in any of them."""
        self._changed.clear()
        await self._changed.wait()

    def begin(self, where: Worker) -> None:
        """Work begins in this conversation's pause."""
        self._working.add(where)

    def end(self, where: Worker) -> None:
        """It is over."""
        self._working.discard(where)

"""How a child tells the supervisor that it is ready: words on a pipe.

A pipe rather than a poll: the word arrives at once, and the pipe's end tells that the child has gone.
"""

import asyncio
import os

READY = "ready"
WARM = "warm"


def tell(descriptor: int | None, word: str) -> None:
    """Say a word to the supervisor; without one, nobody listens."""
    if descriptor is not None:
        os.write(descriptor, f"{word}\n".encode())


class Ear:
    """The supervisor's end of one child's pipe. Pass `descriptor` on to the child, then call `attach`."""

    def __init__(self) -> None:
        self._read_end, self.descriptor = os.pipe()
        self._transport: asyncio.ReadTransport | None = None
        self._reader = asyncio.StreamReader()

    async def attach(self) -> None:
        """Close our copy of the child's end, so that its death ends the pipe, and begin to listen."""
        os.close(self.descriptor)
        pipe = os.fdopen(self._read_end, "rb", buffering=0)
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), pipe
        )

    async def hear(self, word: str) -> str | None:
        """Wait for a word and return the rest of its line; None if the child ended without saying it."""
        async for line in self._reader:
            said, _, rest = line.decode().strip().partition(" ")
            if said == word:
                return rest
        return None

    def close(self) -> None:
        """Stop listening."""
        if self._transport is not None:
            self._transport.close()

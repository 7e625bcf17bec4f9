"""The one way out: stored first, then sent, in order, to every device that is up to date."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final, Protocol

import structlog
from msgspec.structs import replace

from alicia.engine.devices import Device, Devices
from alicia.errors import DatabaseUnavailable
from alicia.ledger.entries import Entry
from alicia.ledger.known import Known
from alicia.ledger.ledger import Ledger
from alicia.protocol.envelope import Envelope, decode, encode, pack
from alicia.protocol.messages import Body
from alicia.protocol.session import AgentSession
from alicia.telemetry import metrics, tracing

log = structlog.get_logger(__name__)

PAUSE: Final = 0.5
"""Between two tries to reach a database that is away; the ledger has tried for a while by itself."""
REPLAY_BYTES: Final = 200_000
"""How much of a replay is gathered before it is sent."""


class Room(Protocol):
    """Where the devices are. Sending to one that has gone is no error: it will ask for what it missed."""

    async def send(self, packet: bytes, to: Sequence[str]) -> None: ...


class Broadcast:
    """Owns the conversation's order: one append and its sending at a time."""

    def __init__(self, ledger: Ledger, session: AgentSession, room: Room, devices: Devices) -> None:
        self.session = session
        self.last_durable = time.monotonic()
        self._ledger = ledger
        self._room = room
        self._devices = devices
        self._order = asyncio.Lock()

    async def emit(self, *entries: Entry) -> None:
        """Store these, then send them; a database that is away is waited for."""
        entries = _traced(entries)
        async with self._order:
            while True:
                try:
                    stored = await self._append(entries)
                    break
                except DatabaseUnavailable:
                    log.warning("database away", conversation_id=self.session.conversation_id)
                    await asyncio.sleep(PAUSE)
            await self._send(stored, self._devices.ready())

    async def take(self, device: Device, envelope: Envelope, known: Known, *entries: Entry) -> None:
        """Store what a device sent; tell all, and acknowledge it to that device.

        `entries` is what is stored, the echo first; by default the echo alone.
        """
        async with self._order:
            stored = await self._append(_traced(entries or (Entry(known.body, envelope.meta),)), envelope)
            receipt = encode(self.session.acknowledge(envelope, known.server_id, known.sync_status))
            ready = self._devices.ready()
            # The sender's acknowledgement travels in one packet with its echo.
            if device.identity in ready:
                ready.remove(device.identity)
                await self._send([*stored, receipt], [device.identity])
            else:
                await self._send([receipt], [device.identity])
            await self._send(stored, ready)

    async def insist(self, device: Device, envelope: Envelope, known: Known, *entries: Entry) -> None:
        """The same for what must be stored; a database that is away is waited for."""
        entries = _traced(entries)
        while True:
            try:
                return await self.take(device, envelope, known, *entries)
            except DatabaseUnavailable:
                log.warning("database away", conversation_id=self.session.conversation_id)
                await asyncio.sleep(PAUSE)

    async def tell(self, envelope: Envelope, *to: str) -> None:
        """Send a transient stanza."""
        await self._send([encode(envelope)], to)

    async def tell_all(self, body: Body) -> None:
        """Send a transient stanza to every device that is up to date."""
        await self.tell(self.session.stamp(body), *self._devices.ready())

    async def catch_up(self, device: Device, after: int) -> None:
        """Send what the device misses, then state the head; from there on it gets live stanzas."""
        after, early = await self._replay(device, after)
        async with self._order:
            _, late = await self._replay(device, after)
            device.ready = True
            await self.tell(self.session.head(), device.identity)
        metrics.replays.inc()
        metrics.replayed.observe(early + late)

    async def _replay(self, device: Device, after: int) -> tuple[int, int]:
        """The journal after this stanza; returns where it ended, and how many stanzas it had."""
        if after == self.session.last_server_stanza_id:
            return after, 0
        last, size, count = b"", 0, 0
        batch: list[bytes] = []
        async with aclosing(self._ledger.replay(self.session.conversation_id, after)) as envelopes:
            async for last in envelopes:
                batch.append(last)
                size += len(last)
                count += 1
                if size > REPLAY_BYTES:
                    await self._send(batch, [device.identity])
                    batch, size = [], 0
        await self._send(batch, [device.identity])
        return (decode(last).stanza_id if last else after), count

    async def _append(self, entries: Sequence[Entry], accepted: Envelope | None = None) -> list[bytes]:
        stored = await self._ledger.append(self.session, *entries, accepted=accepted)
        self.last_durable = time.monotonic()
        return stored

    async def _send(self, envelopes: Sequence[bytes], to: Sequence[str]) -> None:
        if to and envelopes:
            for packet in pack(envelopes):
                await self._room.send(packet, to)


def _traced(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """With the ids of the span that they come from, each once."""
    if tracing.here() is None:
        with tracing.apart():
            return _traced(entries)
    return tuple(
        entry
        if entry.meta and tracing.SPAN_ID in entry.meta
        else replace(entry, meta={**tracing.meta(), **(entry.meta or {})})
        for entry in entries
    )

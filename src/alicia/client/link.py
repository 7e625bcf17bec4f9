"""One stay in a room: packets from the agent in order, packets to it, and the agent's coming and going."""

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias

from livekit import rtc
from livekit.rtc.data_stream import ByteStreamReader, StreamError
from livekit.rtc.participant import PublishDataError

from alicia.client.access import Access
from alicia.client.closing import leave
from alicia.client.errors import Unavailable
from alicia.protocol.envelope import MAX_BYTES, PACKET_BYTES

log = logging.getLogger(__name__)

TOPIC: Final = "alicia"
ATTRIBUTE: Final = "alicia.device"
CONNECT_SECONDS: Final = 5.0
SEND_SECONDS: Final = 10.0
STREAM_SECONDS: Final = 30.0
"""How long a large envelope may take; what is lost with it is asked for again."""


class Signal(Enum):
    """What happened, apart from packets."""

    AGENT_CAME = auto()
    """Another agent is to be spoken to."""
    AGENT_ACTIVE = auto()
    """The agent hears from now on."""
    AGENT_LEFT = auto()
    RECONNECTING = auto()
    RECONNECTED = auto()
    LOST = auto()
    WAKE = auto()
    """There is something to do here."""


@dataclass(frozen=True, slots=True)
class Packet:
    """Bytes from the agent: whole, or still on their way in pieces."""

    data: bytes | ByteStreamReader

    async def read(self) -> bytes | None:
        """All of it; None if the rest never comes."""
        if isinstance(self.data, bytes):
            return self.data
        whole = bytearray()
        try:
            async with asyncio.timeout(STREAM_SECONDS):
                async for chunk in self.data:
                    whole += chunk
                    if len(whole) > MAX_BYTES:
                        return None
        except (StreamError, TimeoutError) as error:
            log.info("stream broken off", extra={"reason": type(error).__name__, "bytes": len(whole)})
            return None
        finally:
            self.data.close()
        return bytes(whole)


Arrival: TypeAlias = Packet | Signal


class Link:
    """Puts what happens in the room into `inbox`, in order."""

    def __init__(self, inbox: "asyncio.Queue[Arrival]") -> None:
        self._inbox = inbox
        self._room = rtc.Room()
        self._agents: list[str] = []
        self.reason = ""
        """Why the room was lost."""

    @property
    def agent(self) -> str | None:
        """The agent's identity; of several, the one that came last: one that was killed stays for a while."""
        return self._agents[-1] if self._agents else None

    async def join(self, access: Access) -> None:
        """Be in the room and visible there, or raise Unavailable."""
        self._listen()
        # The SDK goes on connecting when the waiting task is cancelled, so it must be waited for even then.
        joining = asyncio.ensure_future(self._connect(access))
        try:
            await asyncio.shield(joining)
        except asyncio.CancelledError:
            await asyncio.wait([joining])
            if joining.exception() is None:
                await leave(self._room)
            raise
        except (rtc.ConnectError, OSError) as error:
            raise Unavailable(f"The room at {access.url} can't be joined.") from error
        for participant in self._by_arrival():
            self._joined(participant)

    async def send(self, data: bytes) -> None:
        """Send to the agent; what does not arrive is sent again by who notices."""
        agent = self.agent
        if agent is None or not self._room.isconnected():
            return
        try:
            # A connection that is about to be lost may keep a packet for ever.
            async with asyncio.timeout(SEND_SECONDS):
                await self._publish(data, agent)
        except (PublishDataError, StreamError, ConnectionError, TimeoutError) as error:
            log.info("packet not sent", extra={"reason": type(error).__name__, "bytes": len(data)})

    async def _publish(self, data: bytes, agent: str) -> None:
        me = self._room.local_participant
        if len(data) <= PACKET_BYTES:
            await me.publish_data(data, reliable=True, destination_identities=[agent], topic=TOPIC)
            return
        writer = await me.stream_bytes(
            "envelope", total_size=len(data), topic=TOPIC, destination_identities=[agent]
        )
        await writer.write(data)
        await writer.aclose()

    @property
    def room(self) -> rtc.Room:
        return self._room

    async def leave(self) -> None:
        await leave(self._room)

    async def _connect(self, access: Access) -> None:
        options = rtc.RoomOptions(auto_subscribe=False, connect_timeout=CONNECT_SECONDS)
        await self._room.connect(access.url, access.token, options)
        # Whoever publishes nothing is announced late, unless something about it changes.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._room.local_participant.set_attributes({ATTRIBUTE: access.identity})

    def _listen(self) -> None:
        room, tell = self._room, self._inbox.put_nowait
        room.on("data_received", self._data)  # pyright: ignore[reportUnknownMemberType]
        room.on("participant_connected", self._joined)  # pyright: ignore[reportUnknownMemberType]
        room.on("participant_active", self._active)  # pyright: ignore[reportUnknownMemberType]
        room.on("participant_disconnected", self._left)  # pyright: ignore[reportUnknownMemberType]
        room.on("reconnecting", lambda: tell(Signal.RECONNECTING))  # pyright: ignore[reportUnknownMemberType]
        room.on("reconnected", lambda: tell(Signal.RECONNECTED))  # pyright: ignore[reportUnknownMemberType]
        room.on("disconnected", self._lost)  # pyright: ignore[reportUnknownMemberType]
        room.register_byte_stream_handler(TOPIC, self._stream)

    def _by_arrival(self) -> list[rtc.RemoteParticipant]:
        present = self._room.remote_participants.values()
        return sorted(present, key=lambda each: each.joined_at.timestamp() if each.joined_at else 0.0)

    def _joined(self, participant: rtc.RemoteParticipant) -> None:
        if participant.kind != rtc.ParticipantKind.PARTICIPANT_KIND_AGENT:
            return
        if participant.identity not in self._agents:
            self._agents.append(participant.identity)
            self._inbox.put_nowait(Signal.AGENT_CAME)

    def _active(self, participant: rtc.RemoteParticipant) -> None:
        if participant.identity == self.agent:
            self._inbox.put_nowait(Signal.AGENT_ACTIVE)

    def _left(self, participant: rtc.RemoteParticipant) -> None:
        if participant.identity not in self._agents:
            return
        spoken_to = self.agent
        self._agents.remove(participant.identity)
        if self.agent is None:
            self._inbox.put_nowait(Signal.AGENT_LEFT)
        elif self.agent != spoken_to:
            self._inbox.put_nowait(Signal.AGENT_CAME)

    def _lost(self, reason: rtc.DisconnectReason.ValueType) -> None:
        self.reason = rtc.DisconnectReason.Name(reason).lower().replace("_", " ")
        self._inbox.put_nowait(Signal.LOST)

    def _data(self, packet: rtc.DataPacket) -> None:
        sender = packet.participant
        if packet.topic == TOPIC and sender is not None and sender.identity in self._agents:
            self._inbox.put_nowait(Packet(packet.data))

    def _stream(self, reader: ByteStreamReader, identity: str) -> None:
        if identity in self._agents:
            self._inbox.put_nowait(Packet(reader))
        else:
            reader.close()

"""A LiveKit room as the engine sees it: packets in, packets out, devices coming and going."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from livekit import rtc
from livekit.rtc.data_stream import ByteStreamReader, StreamError
from livekit.rtc.participant import PublishDataError
from livekit.rtc.room import EventTypes

from alicia.engine.conversation import Conversation
from alicia.protocol.envelope import MAX_BYTES, PACKET_BYTES

log = structlog.get_logger(__name__)

TOPIC: Final = "alicia"
STREAMS_AT_ONCE: Final = 8


class LiveRoom:
    """Sends to devices; what a lost connection swallows, the device asks for again."""

    def __init__(self) -> None:
        self.rtc = rtc.Room()

    async def join(self, url: str, token: str) -> None:
        """Be in the room and visible there."""
        # The SDK goes on for a task that is cancelled, and ends the whole process if then nobody listens.
        joining = asyncio.ensure_future(self.rtc.connect(url, token, rtc.RoomOptions(auto_subscribe=False)))
        try:
            await asyncio.shield(joining)
        except asyncio.CancelledError:
            await asyncio.gather(joining, return_exceptions=True)
            raise
        # A participant that publishes nothing is announced late unless something about it changes.
        await self.rtc.local_participant.set_attributes({"alicia.agent": "here"})

    async def send(self, packet: bytes, to: Sequence[str]) -> None:
        if not self.rtc.isconnected():
            return
        me = self.rtc.local_participant
        try:
            if len(packet) <= PACKET_BYTES:
                await me.publish_data(packet, reliable=True, destination_identities=list(to), topic=TOPIC)
                return
            writer = await me.stream_bytes(
                "envelope", total_size=len(packet), topic=TOPIC, destination_identities=list(to)
            )
            await writer.write(packet)
            await writer.aclose()
        except (PublishDataError, ConnectionError, StreamError) as error:
            log.info("packet not sent", reason=type(error).__name__, bytes=len(packet))


class Bridge:
    """Carries a room's events into a conversation, and says when the room is empty or lost."""

    def __init__(self, room: LiveRoom, conversation: Conversation) -> None:
        self.changed = asyncio.Event()
        """Someone came or went, or the connection changed."""
        self.connected = True
        self._room = room.rtc
        self._conversation = conversation
        self._streams: set[asyncio.Task[None]] = set()
        handlers: dict[EventTypes, Callable[..., None]] = {
            "data_received": self._data,
            "participant_connected": self._joined,
            "participant_disconnected": self._left,
            "track_published": self._published,
            "reconnecting": lambda: self._connection(False),
            "reconnected": lambda: self._connection(True),
            "disconnected": lambda *_: self._connection(False),
        }
        for event, handler in handlers.items():
            self._room.on(event, handler)  # pyright: ignore[reportUnknownMemberType]
        self._room.register_byte_stream_handler(TOPIC, self._stream)

    def greet(self) -> None:
        """Take in whoever was in the room first."""
        for participant in self._room.remote_participants.values():
            self._joined(participant)

    async def aclose(self) -> None:
        for task in self._streams:
            task.cancel()
        await asyncio.gather(*self._streams, return_exceptions=True)

    def _connection(self, connected: bool) -> None:
        self.connected = connected
        self.changed.set()

    def _joined(self, participant: rtc.RemoteParticipant) -> None:
        if participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD:
            self._conversation.joined(participant.identity)
            self.changed.set()
            for publication in participant.track_publications.values():
                self._published(publication)

    def _published(self, publication: rtc.RemoteTrackPublication, *_: object) -> None:
        if publication.source == rtc.TrackSource.SOURCE_MICROPHONE:
            self._conversation.talk.wanted.set()

    def _left(self, participant: rtc.RemoteParticipant) -> None:
        self._conversation.left(participant.identity)
        self.changed.set()

    def _data(self, packet: rtc.DataPacket) -> None:
        # A packet without a sender came from a server's API, or before its sender was announced.
        if packet.topic == TOPIC and packet.participant is not None:
            self._conversation.receive(packet.participant.identity, packet.data)

    def _stream(self, reader: ByteStreamReader, identity: str) -> None:
        if len(self._streams) >= STREAMS_AT_ONCE:
            reader.close()
            return
        task = asyncio.create_task(self._read(reader, identity))
        self._streams.add(task)
        task.add_done_callback(self._streams.discard)

    async def _read(self, reader: ByteStreamReader, identity: str) -> None:
        """Join an envelope that is too large for a packet; one too large for the protocol is cut short."""
        envelope = bytearray()
        try:
            async for chunk in reader:
                envelope += chunk
                if len(envelope) > MAX_BYTES:
                    break
        except StreamError:
            return
        finally:
            reader.close()
        self._conversation.receive(identity, bytes(envelope))

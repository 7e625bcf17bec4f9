"""Participants in real rooms, for tests that speak for a client or an agent."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from livekit import api, rtc

from alicia.client.closing import leave
from support.servers import LiveKitServer

TOPIC = "alicia"
QUEUE_MS = 20_000
"""Room for whole sentences in a microphone: LiveKit then keeps their time, however busy the test is."""


@dataclass(frozen=True, slots=True)
class Packet:
    """Data that arrived, and who sent it (the server itself when empty)."""

    data: bytes
    topic: str | None
    sender: str


class Participant:
    """Someone in a room; what arrives waits in `packets`."""

    def __init__(self, room: rtc.Room) -> None:
        self.room = room
        self.packets: asyncio.Queue[Packet] = asyncio.Queue()
        self.is_heard: Callable[[str], bool] = lambda _: True
        """Whether the agent hears the track with this sid, if there is any telling."""
        self._tasks: list[asyncio.Task[Any]] = []
        self._sources: list[rtc.AudioSource] = []
        room.on("data_received", self._received)  # pyright: ignore[reportUnknownMemberType]
        room.register_byte_stream_handler(TOPIC, self._streamed)

    @property
    def identity(self) -> str:
        return self.room.local_participant.identity

    async def send(self, data: bytes, *, to: list[str] | None = None, topic: str = TOPIC) -> None:
        await self.room.local_participant.publish_data(
            data, reliable=True, destination_identities=to or [], topic=topic
        )

    async def stream(self, data: bytes, *, to: list[str]) -> None:
        """Send what is too large for a packet."""
        writer = await self.room.local_participant.stream_bytes(
            "envelope", topic=TOPIC, destination_identities=to
        )
        await writer.write(data)
        await writer.aclose()

    async def receive(self, seconds: float = 20) -> Packet:
        """The next packet."""
        return await asyncio.wait_for(self.packets.get(), seconds)

    async def sees(self, identity: str, seconds: float = 20) -> rtc.RemoteParticipant:
        """Wait until another participant is in the room, and hears: what was sent to it before is lost."""
        arrived = asyncio.Event()

        def check(*_: object) -> None:
            other = self.room.remote_participants.get(identity)
            if other is not None and other.state == rtc.ParticipantState.PARTICIPANT_STATE_ACTIVE:
                arrived.set()

        self.room.on("participant_connected", check)  # pyright: ignore[reportUnknownMemberType]
        self.room.on("participant_active", check)  # pyright: ignore[reportUnknownMemberType]
        try:
            check()
            await asyncio.wait_for(arrived.wait(), seconds)
        finally:
            self.room.off("participant_connected", check)  # pyright: ignore[reportUnknownMemberType]
            self.room.off("participant_active", check)  # pyright: ignore[reportUnknownMemberType]
        return self.room.remote_participants[identity]

    async def sees_an_agent(self, seconds: float = 20) -> None:
        """Wait until anyone is in the room."""
        arrived = asyncio.Event()
        self.room.on("participant_connected", lambda *_: arrived.set())  # pyright: ignore
        if not self.room.remote_participants:
            await asyncio.wait_for(arrived.wait(), seconds)

    async def publish_microphone(self, sample_rate: int = 48_000) -> rtc.AudioSource:
        """Publish a track; feed its source in a task of `start`."""
        source = rtc.AudioSource(sample_rate, 1, queue_size_ms=QUEUE_MS)
        self._sources.append(source)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await self.room.local_participant.publish_track(track, options)
        return source

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something that ends when the participant leaves."""
        task = asyncio.create_task(work)
        self._tasks.append(task)
        return task

    async def leave(self) -> None:
        """Leave now; leaving twice does no harm."""
        self.room.off("data_received", self._received)  # pyright: ignore[reportUnknownMemberType]
        tasks, self._tasks = self._tasks, []
        sources, self._sources = self._sources, []
        await leave(self.room, tasks=tasks, sources=sources)

    def _streamed(self, reader: rtc.ByteStreamReader, sender: str) -> None:
        async def read() -> None:
            data = b"".join([chunk async for chunk in reader])
            self.packets.put_nowait(Packet(data, TOPIC, sender))

        self.start(read())

    def _received(self, packet: rtc.DataPacket) -> None:
        sender = packet.participant.identity if packet.participant else ""
        self.packets.put_nowait(Packet(packet.data, packet.topic, sender))


def token(livekit: LiveKitServer, room: str, identity: str, *, agent: bool = False) -> str:
    """A token for one room and one identity, with the right to set its own attributes."""
    grants = api.VideoGrants(room_join=True, room=room, can_update_own_metadata=True, agent=agent)
    made = api.AccessToken(livekit.api_key, livekit.api_secret).with_identity(identity).with_grants(grants)
    return made.with_kind("agent" if agent else "standard").to_jwt()


@asynccontextmanager
async def participant(
    livekit: LiveKitServer, room: str, identity: str, *, agent: bool = False
) -> AsyncGenerator[Participant]:
    """Join a room, be visible in it at once, and leave it in the right order at the end."""
    joined = rtc.Room()
    someone = Participant(joined)
    await joined.connect(livekit.url, token(livekit, room, identity, agent=agent))
    try:
        # Someone who publishes nothing is announced only on a tick of three seconds.
        await joined.local_participant.set_attributes({"test": "1"})
        yield someone
    finally:
        await someone.leave()

"""Which rooms an API gives an agent, on a LiveKit that it shares with others."""

from collections.abc import AsyncIterator

import pytest

from alicia import ids
from alicia.api.rooms import Rooms
from support.rooms import participant
from support.servers import LiveKitServer


@pytest.fixture
async def ours(livekit: LiveKitServer) -> AsyncIterator[Rooms]:
    rooms = Rooms(livekit.url, livekit.api_key, livekit.api_secret, "ours")
    yield rooms
    await rooms.aclose()


@pytest.fixture
async def theirs(livekit: LiveKitServer) -> AsyncIterator[Rooms]:
    rooms = Rooms(livekit.url, livekit.api_key, livekit.api_secret, "theirs")
    yield rooms
    await rooms.aclose()


async def test_a_room_that_was_given_to_anothers_agents_is_left_to_them(
    ours: Rooms, theirs: Rooms, livekit: LiveKitServer, room: ids.ConversationId, user: str
) -> None:
    await theirs.ensure(room, agent_is_alive=False)
    async with participant(livekit, room, f"{user}:phone"):
        assert await theirs.wants_agent(room, opened=False)
        assert not await ours.wants_agent(room, opened=False)

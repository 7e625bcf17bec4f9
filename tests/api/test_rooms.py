"""Which rooms an API gives an agent, on a LiveKit that it shares with others."""

from collections.abc import AsyncIterator

import pytest
from livekit import api

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


@pytest.fixture
async def server(livekit: LiveKitServer, room: ids.ConversationId) -> AsyncIterator[api.LiveKitAPI]:
    """LiveKit with an empty room that no API has made, and for which none waits until an agent comes."""
    async with api.LiveKitAPI(livekit.url, livekit.api_key, livekit.api_secret) as opened:
        await opened.room.create_room(api.CreateRoomRequest(name=room))
        yield opened


async def called(server: api.LiveKitAPI, room: str) -> list[str]:
    """Whose agents were called; every room has a dispatch for agents without a name."""
    return [each.agent_name for each in await server.agent_dispatch.list_dispatch(room) if each.agent_name]


async def test_in_a_conversation_that_nobody_opened_an_agent_without_a_lease_is_alive(
    ours: Rooms, livekit: LiveKitServer, room: ids.ConversationId, server: api.LiveKitAPI
) -> None:
    async with participant(livekit, room, "agent", agent=True):
        await ours.ensure(room, agent_is_alive=None)
        assert await called(server, room) == []
        await ours.ensure(room, agent_is_alive=False)
        assert await called(server, room) == ["ours"]


async def test_a_conversation_that_nobody_opened_gets_an_agent_if_it_has_none(
    ours: Rooms, room: ids.ConversationId, server: api.LiveKitAPI
) -> None:
    await ours.ensure(room, agent_is_alive=None)
    assert await called(server, room) == ["ours"]

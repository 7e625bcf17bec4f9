"""Joining a room: begun is begun."""

import asyncio
from typing import Any

import pytest
from livekit import api

from alicia.agent.room import LiveRoom
from support.servers import LiveKitServer


async def test_an_agent_that_is_called_off_while_it_joins_is_in_the_room_before_it_leaves(
    livekit: LiveKitServer, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = LiveRoom()
    connect, began = agent.rtc.connect, asyncio.Event()

    async def connecting(*args: Any) -> None:
        began.set()
        await connect(*args)

    monkeypatch.setattr(agent.rtc, "connect", connecting)
    token = api.AccessToken(livekit.api_key, livekit.api_secret).with_identity("agent")
    grants = api.VideoGrants(room_join=True, room=room, can_update_own_metadata=True)
    joining = asyncio.create_task(agent.join(livekit.url, token.with_grants(grants).to_jwt()))
    await began.wait()
    joining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await joining
    # Otherwise the SDK waits for somebody who listens, and ends the whole process after a while.
    assert agent.rtc.isconnected()
    await agent.rtc.disconnect()

"""Rooms and their agents: every room with a user in it has an agent, whatever happened to the last one."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

import aiohttp
import psycopg
import structlog
from livekit import api
from psycopg_pool import PoolTimeout

from alicia.api.given_ids import GivenIds
from alicia.errors import ConfigError

log = structlog.get_logger(__name__)

TOKEN_LIFE = timedelta(minutes=10)
UNUSED_SECONDS = 60
DESERTED_SECONDS = 900
"""LiveKit closes a room in which only the agent is left; so long it may finish its work there, and learn."""
DISPATCH_PATIENCE = 4.0
"""A dispatch younger than this may still be on its way to a worker."""
WATCH_SECONDS = 2.0
_AGENT = api.ParticipantInfo.Kind.AGENT


class Rooms:
    """LiveKit's rooms through its server API."""

    def __init__(self, url: str, api_key: str, api_secret: str, agent_name: str) -> None:
        self.url = url
        self.given = GivenIds(api_secret)
        """The names of new rooms, which are their conversations' ids."""
        self._agent_name = agent_name
        self._key, self._secret = api_key, api_secret
        self._livekit = api.LiveKitAPI(url, api_key, api_secret)
        self._asked: dict[str, float] = {}

    async def aclose(self) -> None:
        await self._livekit.aclose()

    def token(self, room: str, identity: str) -> str:
        """Lets one identity into one room for a while, with no right to administer it."""
        grants = api.VideoGrants(room_join=True, room=room, can_update_own_metadata=True)
        token = api.AccessToken(self._key, self._secret).with_identity(identity).with_grants(grants)
        return token.with_ttl(TOKEN_LIFE).to_jwt()

    async def ensure(self, room: str, *, agent_is_alive: bool | None) -> None:
        """Make the room if it isn't there, and dispatch an agent if none is in it or on its way.

        `agent_is_alive` is None for a conversation that nobody has opened: its agent has no lease yet.
        """
        if not await self._exists(room):
            self._asked[room] = time.monotonic()
            dispatch = api.RoomAgentDispatch(agent_name=self._agent_name)
            request = api.CreateRoomRequest(
                name=room,
                agents=[dispatch],
                empty_timeout=UNUSED_SECONDS,
                departure_timeout=DESERTED_SECONDS,
            )
            await self._livekit.room.create_room(request)
            return
        if agent_is_alive is None:
            agent_is_alive = _AGENT in await self._kinds(room)
        if not agent_is_alive:
            await self._dispatch(room)

    async def _exists(self, room: str) -> bool:
        answer = await self._livekit.room.list_rooms(api.ListRoomsRequest(names=[room]))
        return len(answer.rooms) > 0

    async def _dispatch(self, room: str) -> None:
        """LiveKit drops a dispatch that finds no free worker, so this may be asked again and again."""
        now = time.monotonic()
        if now - self._asked.get(room, -DISPATCH_PATIENCE) < DISPATCH_PATIENCE:
            return
        self._asked = {name: at for name, at in self._asked.items() if now - at < DISPATCH_PATIENCE}
        self._asked[room] = now
        log.info("agent dispatched", room=room)
        await self._livekit.agent_dispatch.create_dispatch(
            api.CreateAgentDispatchRequest(agent_name=self._agent_name, room=room)
        )

    async def watch(self, served: Callable[[list[str]], Awaitable[dict[str, bool]]]) -> None:
        """Forever: rooms that have users but no living agent get one. `served` asks the agents' leases."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            try:
                answer = await self._livekit.room.list_rooms(api.ListRoomsRequest())
                names = [room.name for room in answer.rooms if room.num_participants > 0]
                leases = await served(names)
                for name in names:
                    if not leases.get(name) and await self.wants_agent(name, opened=name in leases):
                        await self._dispatch(name)
            except (api.TwirpError, aiohttp.ClientError, psycopg.Error, PoolTimeout, OSError) as error:
                log.warning("rooms could not be watched", reason=type(error).__name__)

    async def wants_agent(self, room: str, *, opened: bool) -> bool:
        """Whether a user waits there. In an opened conversation, an agent that has no lease is dead."""
        kinds = await self._kinds(room)
        waits = api.ParticipantInfo.Kind.STANDARD in kinds and (opened or _AGENT not in kinds)
        return waits and await self._is_ours(room)

    async def _kinds(self, room: str) -> set[api.ParticipantInfo.Kind]:
        answer = await self._livekit.room.list_participants(api.ListParticipantsRequest(room=room))
        return {participant.kind for participant in answer.participants}

    async def _is_ours(self, room: str) -> bool:
        """Several Alicias may share one LiveKit: a room that was given to another's agents is theirs."""
        names = {each.agent_name for each in await self._livekit.agent_dispatch.list_dispatch(room)}
        return not names or self._agent_name in names


def browser_url(livekit_url: str) -> str:
    """The address that clients dial, always as a WebSocket address."""
    for plain, socket in (("http://", "ws://"), ("https://", "wss://")):
        if livekit_url.startswith(plain):
            return socket + livekit_url.removeprefix(plain)
    if livekit_url.startswith(("ws://", "wss://")):
        return livekit_url
    raise ConfigError(f"ALICIA_LIVEKIT_URL must start with ws:// or wss://, not {livekit_url!r:.60}.")

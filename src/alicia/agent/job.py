"""One room: join it, live its conversation, leave when nobody is there."""

import asyncio
import time
from typing import Final

import structlog
from livekit import rtc

from alicia import ids
from alicia.agent.room import Bridge, LiveRoom
from alicia.agent.voices import Voices
from alicia.engine.conversation import Conversation
from alicia.engine.services import Services
from alicia.errors import InvalidId, StandDown

log = structlog.get_logger(__name__)

EMPTY_SECONDS: Final = 20.0
"""How long to stay with nobody there and nothing to do: a page that is reloaded is back in less."""
LOST_SECONDS: Final = 10.0
"""How long to hold a conversation without its room; then another agent may have it."""


class Job:
    """The agent's part in one room. `drain` ends it when the running answers are done."""

    def __init__(self, room_name: str, services: Services, voices: Voices) -> None:
        self.room_name = room_name
        self._services = services
        self._voices = voices
        self._conversation: Conversation | None = None
        self._drained = asyncio.Event()

    async def run(self, url: str, token: str) -> None:
        """Until the room is empty or lost, the conversation is another agent's, or the worker drains."""
        try:
            conversation_id = ids.parse(ids.ConversationId, self.room_name)
        except InvalidId:
            log.warning("room is no conversation")
            return
        room = LiveRoom()
        self._conversation = conversation = Conversation(conversation_id, self._services, room)
        bridge = Bridge(room, conversation)
        try:
            async with asyncio.TaskGroup() as tasks:
                life = tasks.create_task(conversation.run())
                await room.join(url, token)
                bridge.greet()
                senses = tasks.create_task(self._voices.attend(room.rtc, conversation.talk))
                await self._until_over(bridge, conversation, life)
                senses.cancel()
                life.cancel()
        except* StandDown:
            log.info("conversation has another agent", conversation_id=conversation_id)
        except* rtc.ConnectError as group:
            reason = type(group.exceptions[0]).__name__
            log.warning("room not joined", conversation_id=conversation_id, reason=reason)
        finally:
            await bridge.aclose()
            await room.rtc.disconnect()

    def notice(self) -> None:
        """The conversation's rows were changed from outside."""
        if self._conversation is not None:
            self._conversation.notice()

    async def drain(self) -> None:
        if self._conversation is not None:
            await self._conversation.drain()
        self._drained.set()

    async def _until_over(self, bridge: Bridge, conversation: Conversation, life: asyncio.Task[None]) -> None:
        drained = asyncio.create_task(self._drained.wait())
        changed = asyncio.create_task(bridge.changed.wait())
        since = time.monotonic()
        try:
            while not drained.done() and not life.done():
                bridge.changed.clear()
                if bridge.connected and conversation.busy:
                    since = time.monotonic()
                limit = EMPTY_SECONDS if bridge.connected else LOST_SECONDS
                if time.monotonic() - since >= limit:
                    return
                if changed.done():
                    changed = asyncio.create_task(bridge.changed.wait())
                await asyncio.wait([drained, changed, life], timeout=1.0, return_when=asyncio.FIRST_COMPLETED)
        finally:
            drained.cancel()
            changed.cancel()

"""Keeps a conversation connected: joins, resumes, sends again, and joins again, until it is closed."""

import asyncio
import contextlib
import logging
from typing import Final

from alicia.client.access import Access, Door
from alicia.client.errors import Unavailable
from alicia.client.events import Hub, State, StateChange
from alicia.client.link import Arrival, Link, Packet, Signal
from alicia.client.log import Log
from alicia.client.pace import Pace
from alicia.client.sound import Sound
from alicia.errors import AliciaError, NotFound
from alicia.protocol.envelope import encode
from alicia.protocol.messages import Map

log = logging.getLogger(__name__)

AGENT_SECONDS: Final = 5.0
"""How long to wait for an agent's word before the server is asked for one again."""
MISSES: Final = 2
"""Whoever is alone so often joins again: the agent may be in another room of this name, on another node."""
INTERRUPTED: Final = "The connection is interrupted."
RECONNECT_SECONDS: Final = 10.0
"""How long LiveKit may try to mend its connection before a new one is made."""
STEADY_SECONDS: Final = 10.0
"""A connection that held so long is not to blame for the next loss."""
SAVE_SECONDS: Final = 0.25
"""How far the cursor on disk may lag behind."""


class Driver:
    """One loop owns the session and all its timers; everything that happens reaches it through one queue."""

    def __init__(self, door: Door, log_: Log, hub: Hub, device: str, settings: Map) -> None:
        self.state = State.CONNECTING
        self.idle = asyncio.Event()
        """Set while the outbox is empty."""
        self.caught_up = asyncio.Event()
        """Set while nothing is known to be missing."""
        self.sound = Sound()
        """The microphone and the loudspeaker."""
        self._door, self._log, self._hub, self._device = door, log_, hub, device
        self._settings = settings
        self._inbox: asyncio.Queue[Arrival] = asyncio.Queue()
        self._retry = Pace(0.25, 5.0)
        self._configure = Pace(0.25, 2.0)
        self._resend = Pace(2.0, 15.0)
        self._agent_wait = Pace(AGENT_SECONDS, 15.0)
        self._misses = 0
        self._save_at: float | None = None
        self._give_up_at: float | None = None
        self._asking: asyncio.Task[None] | None = None
        hub.handled = self._handled
        self._mark_idle()

    def wake(self) -> None:
        """Something was put into the outbox."""
        self._mark_idle()
        self._inbox.put_nowait(Signal.WAKE)

    async def first_knock(self) -> Access | None:
        """Find out now whether the server lets us in at all; None if it can't be reached."""
        try:
            return await self._enter()
        except Unavailable as error:
            self._change(State.OFFLINE, str(error))
            return None

    async def run(self, access: Access | None) -> None:
        """Until cancelled; raises what the server refuses for good. `access` is the first way in, if any."""
        while True:
            try:
                access = access or await self._enter()
                began = self._now()
                await self._stay(access)
                # A room that throws us out again and again must not be stormed.
                if self._now() - began > STEADY_SECONDS:
                    self._retry.stop()
            except Unavailable as error:
                self._change(State.OFFLINE, str(error))
            access = None
            self._retry.wait(self._now())
            await self._until(self._retry.at)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    async def _enter(self) -> Access:
        try:
            access = await self._knock()
        except NotFound:
            if self._log.opened:
                raise
            # The server has forgotten an id by which nobody has opened anything: another one does as well.
            access = await self._door.knock(None, self._device)
        self._log.give(access.conversation_id)
        return access

    async def _knock(self) -> Access:
        return await self._door.knock(self._log.id or None, self._device)

    async def _until(self, at: float | None) -> None:
        """Wait, and do nothing else than keep the disk up to date."""
        while at is not None and (now := self._now()) < at:
            await asyncio.sleep(min(at, self._save_at or at) - now)
            self._save_if_due()

    async def _stay(self, access: Access) -> None:
        """Be in the room until it is lost."""
        self._inbox = asyncio.Queue()
        link = Link(self._inbox)
        await link.join(access)
        try:
            self.sound.enter(link.room)
            self._give_up_at = None
            self._be_patient()
            while True:
                await self._send_due(link)
                if link.agent is None and self._misses >= MISSES:
                    return
                arrival = await self._next(link)
                if arrival is Signal.LOST or self._gave_up():
                    self._change(State.CONNECTING, f"The room was lost: {link.reason}.")
                    return
                if isinstance(arrival, Packet):
                    await self._take(arrival)
                elif arrival is not None:
                    self._notice(arrival)
        finally:
            await self._stop_asking()
            await self.sound.leave()
            await link.leave()

    def _greet(self) -> None:
        """Send Configuration at once."""
        self.caught_up.clear()
        self._log.ask_for_head()
        self._configure.start(self._now())
        self._be_patient()

    def _be_patient(self) -> None:
        """Give an agent a while to come and to answer."""
        self._misses = 0
        self._agent_wait.start(now := self._now())
        self._agent_wait.wait(now)

    def _gave_up(self) -> bool:
        return self._give_up_at is not None and self._now() >= self._give_up_at

    def _is_heard(self, link: Link) -> bool:
        """Whether there is an agent, as far as is known, and a connection to it."""
        return link.agent is not None and self._give_up_at is None

    async def _next(self, link: Link) -> Arrival | None:
        """The next arrival, or None when something is due."""
        # What is not sent before an agent has answered would be due all the time.
        resend = self._resend.at if self._is_heard(link) and self._configure.at is None else None
        at = (self._configure.at, resend, self._agent_wait.at, self._save_at, self._give_up_at)
        moments = [moment for moment in at if moment is not None]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(min(moments, default=None)):
                return await self._inbox.get()
        return None

    async def _send_due(self, link: Link) -> None:
        now, session = self._now(), self._log.session
        self._save_if_due()
        if self._agent_wait.due(now):
            self._miss_agent(link)
        if not self._is_heard(link):
            # Nobody would hear it; the agent's coming is an arrival, and so is the connection's mending.
            self._configure.at = None
            return
        if session.wants_configuration and self._configure.at is None:
            self._greet()
        if self._configure.due(now):
            self._configure.wait(now)
            await link.send(encode(session.configuration(**self._settings)))
        if self._configure.at is not None:
            return
        if self._resend.due(now):
            session.resend()
            if self._agent_wait.at is None:
                self._be_patient()
        envelope = session.next_to_send()
        if envelope is not None:
            self._log.save()
            self._resend.wait(now)
            await link.send(encode(envelope))

    async def _take(self, packet: Packet) -> None:
        data = await packet.read()
        if data is None:
            return
        before = self._log.session.outbox
        if self._log.take(data):
            self._configure.stop()
        if self._configure.at is None and self._give_up_at is None:
            # It has answered our Configuration, and it speaks.
            self._agent_wait.stop()
            self._change(State.ONLINE)
        if self._log.session.outbox[:1] != before[:1]:
            # The one in flight is settled; the next one has its own clock.
            self._resend.stop()
        self._mark_idle()
        if self._log.caught_up:
            self.caught_up.set()
        self._handled()

    def _notice(self, signal: Signal) -> None:
        match signal:
            case Signal.AGENT_CAME:
                self._greet()
            case Signal.AGENT_ACTIVE if self._configure.at is not None:
                # What was sent to it before this moment was lost.
                self._configure.start(self._now())
            case Signal.AGENT_LEFT:
                self._change(State.CONNECTING, "The agent has left; another one is coming.")
                self._greet()
            case Signal.RECONNECTING:
                self._change(State.CONNECTING, INTERRUPTED)
                self._be_patient()
                self._give_up_at = self._now() + RECONNECT_SECONDS
            case Signal.RECONNECTED:
                self._give_up_at = None
                self._greet()
            case _:
                pass

    def _miss_agent(self, link: Link) -> None:
        """No agent, or one that says nothing: have the server see to it."""
        self._misses += 1
        self._agent_wait.wait(self._now())
        if self._give_up_at is not None:
            self._change(State.OFFLINE, INTERRUPTED)
        else:
            silent = "The agent does not answer." if link.agent else "No agent has come yet."
            self._change(State.OFFLINE, silent)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_for_agent())

    async def _ask_for_agent(self) -> None:
        try:
            await self._knock()
        except AliciaError as error:
            log.info("no agent to be had", extra={"reason": str(error)})

    async def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])
            self._asking = None

    def _change(self, state: State, reason: str = "") -> None:
        # While it is offline, every attempt to come back is one more CONNECTING that nobody wants to hear of.
        if state is self.state or (self.state is State.OFFLINE and state is State.CONNECTING):
            return
        self.state = state
        self._hub.publish(StateChange(state, reason))

    def _mark_idle(self) -> None:
        if self._log.outbox:
            self.idle.clear()
        else:
            self.idle.set()

    def _handled(self) -> None:
        self._log.changed = True
        if self._save_at is None:
            self._save_at = self._now() + SAVE_SECONDS

    def _save_if_due(self) -> None:
        if self._save_at is not None and self._now() >= self._save_at:
            self._save_at = None
            self._log.save()

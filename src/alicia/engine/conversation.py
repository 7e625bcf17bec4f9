"""A conversation's life in one agent, from the first Configuration to the day another agent takes it over."""

import asyncio
import time
from typing import Final

import structlog

from alicia import ids
from alicia.engine.afterwards import Afterwards
from alicia.engine.answers import Answers
from alicia.engine.broadcast import Broadcast, Room
from alicia.engine.clips import Clips
from alicia.engine.devices import Device, Devices
from alicia.engine.guess import Guesses
from alicia.engine.hearing import Hearing
from alicia.engine.history import History
from alicia.engine.prompt import Turn
from alicia.engine.services import Services
from alicia.engine.taking_on import read_questions, read_turns
from alicia.engine.talk import Talk
from alicia.engine.turn import Answer, Question
from alicia.errors import (
    DatabaseUnavailable,
    ErrorCode,
    NotFound,
    RemoteProtocolError,
    StandDown,
)
from alicia.ledger.entries import Entry
from alicia.ledger.ledger import session_of
from alicia.protocol.envelope import Envelope, decode_packet
from alicia.protocol.messages import (
    Configuration,
    Erasure,
)
from alicia.protocol.session import AgentSession
from alicia.storage.audio import unheard_clips
from alicia.storage.conversations import Conversation as Row
from alicia.storage.pool import reaching
from alicia.telemetry import metrics
from alicia.tools.client import ClientTools

log = structlog.get_logger(__name__)

INBOX: Final = 1_000
"""Packets that may wait; beyond that they are dropped, and their senders send them again."""
ERRORS_IN_A_ROW: Final = 20
"""After so many bad stanzas without a good one a device gets no more answers to them."""
HEAD_AFTER: Final = 2.0
HEAD_EVERY: Final = 15.0
HEARTBEAT: Final = 3.0
CLAIM_EVERY: Final = 0.5
CLAIM_PATIENCE: Final = 15.0
"""Longer than a lease lasts without a heartbeat: whoever still has it then is alive."""


class Conversation:
    """Takes what devices send, in order; stores it, answers it, and keeps every device up to date."""

    def __init__(self, conversation_id: ids.ConversationId, services: Services, room: Room) -> None:
        self.id = conversation_id
        self._services = services
        self._devices = Devices()
        self._present: set[str] = set()
        self._owner: str | None = None
        self._room = room
        self._line = Broadcast(services.ledger, AgentSession(conversation_id), room, self._devices)
        self._history = History(services.room)
        self._inbox: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(INBOX)
        self._client_tools = ClientTools()
        self._answers = Answers(
            self._begin,
            self._line,
            self._history,
            asked=self._asked,
            reread=lambda: self._afterwards.reload(),
        )
        quiet = asyncio.Event()
        self._afterwards = Afterwards(
            self._line,
            self._history,
            self._answers.idle,
            quiet,
            pool=services.pool,
            model=services.model,
            lessons=services.lessons,
            pauses=services.pauses,
            budget=services.room,
            read=self._read_turns,
        )
        self._guesses = Guesses(self._history, self._begin)
        self.talk = Talk(
            self._line, self._history, self._answers, self._guesses, quiet, self._afterwards.interrupt
        )
        """What is spoken here."""
        self._clips = Clips(services, self.talk)
        self._hearing = Hearing(
            services, self._line, self._answers, self._client_tools, self.talk, self._clips
        )
        self._draining = False
        self._loaded = asyncio.Event()
        self._tasks = asyncio.TaskGroup()
        self._replays: dict[str, asyncio.Task[None]] = {}
        self._noticed = asyncio.Event()

    def receive(self, identity: str, packet: bytes) -> None:
        """A packet came from this participant. Never waits."""
        if not self._draining and not self._inbox.full():
            self._inbox.put_nowait((identity, packet))

    def notice(self) -> None:
        """Somebody else changed this conversation's rows; the devices will hear of it. Never waits."""
        self._noticed.set()

    def joined(self, identity: str) -> None:
        """A participant came."""
        self._present.add(identity)
        self._devices.come(identity)

    def left(self, identity: str) -> None:
        """A participant went."""
        self._present.discard(identity)
        self._devices.leave(identity)
        self._client_tools.leave(identity)
        self.talk.settle(listening=self._devices.listening())
        if replay := self._replays.pop(identity, None):
            replay.cancel()

    @property
    def busy(self) -> bool:
        """Somebody is here, or something is still to be done."""
        answering = not self._answers.idle.is_set() or not self._inbox.empty()
        return bool(self._present) or answering or self._afterwards.busy

    async def drain(self) -> None:
        """Take nothing new, and return when every question taken so far is answered."""
        self._draining = True
        await self._loaded.wait()
        await self._answers.settled()

    async def run(self) -> None:
        """Live until cancelled; StandDown when another agent has the conversation."""
        stood_down = False
        try:
            async with self._tasks:
                await self._resume()
                self._loaded.set()
                self._tasks.create_task(self._read_inbox())
                self._tasks.create_task(self._answers.run())
                self._tasks.create_task(self._state_head())
                self._tasks.create_task(self._keep_lease())
                self._tasks.create_task(self._heed_changes())
                self._tasks.create_task(self._afterwards.run())
                self._tasks.create_task(self._guesses.run())
                self._tasks.create_task(self._clips.run())
        except* StandDown:
            stood_down = True
        finally:
            self._afterwards.close()
            await self._give_up()
        # Not in the clause above: what is raised there comes out in a group before Python 3.11.4.
        if stood_down:
            metrics.stand_downs.inc()
            raise StandDown(f"Another agent has {self.id}.")

    async def _give_up(self) -> None:
        """Leave in order; what is unfinished keeps its lease, which goes stale: so others find it."""
        if self._owner is not None and self._answers.idle.is_set():
            try:
                await self._services.ledger.release(self.id)
            except DatabaseUnavailable:
                log.warning("lease not released", conversation_id=self.id)

    def _asked(self) -> None:
        """The model is wanted for a question: a guess at another is wrong, and learning can wait."""
        self._guesses.drop()
        self._afterwards.interrupt()

    # Taking the conversation on.

    async def _resume(self) -> None:
        """Go on where the row says that the conversation stands; a new one waits for its opening."""
        while True:
            try:
                with reaching():
                    return await self._take_on(await self._services.ledger.load(self.id))
            except NotFound:
                return None
            except DatabaseUnavailable:
                log.warning("database away", conversation_id=self.id)
                await asyncio.sleep(CLAIM_EVERY)

    async def _take_on(self, row: Row) -> None:
        deadline = time.monotonic() + CLAIM_PATIENCE
        while not await self._services.ledger.claim(self.id):
            if time.monotonic() > deadline:
                raise StandDown(f"Another agent has {self.id}.")
            await asyncio.sleep(CLAIM_EVERY)
        # What the last owner wrote until it lost the lease is only known now.
        row = await self._services.ledger.load(self.id)
        self._line.session = session_of(row)
        self._owner = row.user_id
        preferences = await self._services.ledger.preferences(row)
        self.talk.settle(owner=row.user_id, preferences=preferences)
        await self._afterwards.begin(row.user_id)
        await self._tell_erasures()
        async with self._services.pool.connection() as conn:
            questions = await read_questions(conn, self.id)
            unheard = await unheard_clips(conn, self.id)
        for question in questions:
            self._answers.ask(question)
        for audio_id in unheard:
            self._clips.take_up(audio_id)
        log.info("conversation taken on", conversation_id=self.id, unfinished=len(questions))

    async def _read_turns(self) -> list[Turn]:
        async with self._services.pool.connection() as conn:
            return await read_turns(conn, self._owner or "", self.id)

    async def _heed_changes(self) -> None:
        """Titles and wishes change, and things are erased, without a stanza: that is given here."""
        while True:
            await self._noticed.wait()
            self._noticed.clear()
            if self._owner is None:
                continue
            try:
                await self._tell_erasures()
                row = await self._services.ledger.load(self.id)
                self.talk.settle(preferences=await self._services.ledger.preferences(row))
                await self._line.tell_all(self._configuration(row))
            except DatabaseUnavailable:
                log.warning("database away", conversation_id=self.id)
                await asyncio.sleep(CLAIM_EVERY)
                self._noticed.set()

    async def _tell_erasures(self) -> None:
        told: list[str] = []
        erased = await self._services.ledger.pending_erasures(self.id)
        if not erased:
            return
        async with self._afterwards.halted():
            # Again and again: until it had stopped, an answer or a pause may have told what was erased.
            while len(erased) > len(told):
                told = erased
                self.talk.forget(told)
                await self._answers.forget(told)
                erased = await self._services.ledger.pending_erasures(self.id)
            self._guesses.drop()
            await self._line.emit(Entry(Erasure(conversation_id=self.id, ids=erased)))
            await self._afterwards.reload()

    def _configuration(self, row: Row, *, resumed: bool = True, missed: int = 0) -> Configuration:
        """How the conversation stands, for its devices."""
        session = self._line.session
        return Configuration(
            conversation_id=self.id,
            resumed=resumed,
            missed=missed,
            last_client_stanza_id=session.last_client_stanza_id,
            last_server_stanza_id=session.last_server_stanza_id,
            title=row.title,
            status=row.status,
            preferences=row.preferences,
        )

    async def _keep_lease(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            if self._owner is not None:
                try:
                    await self._services.ledger.heartbeat(self.id)
                except DatabaseUnavailable:
                    log.warning("database away", conversation_id=self.id)

    async def _state_head(self) -> None:
        """A lost tail has nothing after it that would show the gap, so the head is stated again and again."""
        stated = time.monotonic()
        while True:
            await asyncio.sleep(HEAD_AFTER / 4)
            now, last = time.monotonic(), self._line.last_durable
            due = (stated < last and now - last >= HEAD_AFTER) or now - stated >= HEAD_EVERY
            if due and (ready := self._devices.ready()):
                stated = now
                await self._line.tell(self._line.session.head(), *ready)

    # What devices send.

    async def _read_inbox(self) -> None:
        while True:
            identity, packet = await self._inbox.get()
            user, _, _ = identity.rpartition(":")
            if not user or self._owner not in (None, user):
                log.info("stranger ignored", conversation_id=self.id)
                continue
            await self._packet(user, identity, packet)

    async def _packet(self, user: str, identity: str, packet: bytes) -> None:
        device = self._devices.get(identity) or Device(identity=identity)
        for each in decode_packet(packet):
            if isinstance(each, Envelope):
                await self._attend(user, device, each)
            else:
                await self._refuse(device, each)

    async def _attend(self, user: str, device: Device, envelope: Envelope) -> None:
        try:
            if isinstance(envelope.body, Configuration):
                await self._configure(user, device, envelope, envelope.body)
            else:
                if self._owner is None:
                    message = "open the conversation with a Configuration first"
                    raise RemoteProtocolError(ErrorCode.NOT_FOUND, message)
                await self._hearing.take(self._owner, device, envelope)
            device.errors = 0
        except RemoteProtocolError as error:
            await self._refuse(device, error, envelope)
        except DatabaseUnavailable:
            message = "The database is away; send this again in a moment."
            await self._refuse(device, RemoteProtocolError(ErrorCode.UNAVAILABLE, message), envelope)

    async def _refuse(
        self, device: Device, error: RemoteProtocolError, envelope: Envelope | None = None
    ) -> None:
        """Answer a mistake, but not a flood of them."""
        if envelope is not None and error.stanza_id is None:
            error.stanza_id = envelope.stanza_id
        device.errors += 1
        if device.errors <= ERRORS_IN_A_ROW:
            await self._line.tell(self._line.session.refuse(error, envelope), device.identity)

    async def _configure(self, user: str, device: Device, envelope: Envelope, body: Configuration) -> None:
        """Bring a device up to date: answer its Configuration, replay what it misses, state the head."""
        if self._owner is None:
            await self._open(user, body)
        session, ledger, seen = self._line.session, self._services.ledger, body.last_sequence_seen
        session.accept(envelope, known=False)
        row = await ledger.load(self.id)
        resume = session.resume(seen, not seen or await ledger.journaled(self.id, seen))
        if device.identity in self._devices.gone:
            return
        device = self._devices.join(device.identity)
        if device.ready and seen is not None and seen != session.last_server_stanza_id:
            metrics.gaps.inc()
        device.configure(body)
        self.talk.settle(listening=self._devices.listening())
        if body.tools is not None:
            self._client_tools.announce(device.identity, body.tools)
        missed = await ledger.missed(self.id, resume.after)
        answer = self._configuration(row, resumed=resume.resumed, missed=missed)
        await self._line.tell(session.stamp(answer), device.identity)
        if earlier := self._replays.pop(device.identity, None):
            earlier.cancel()
        self._replays[device.identity] = self._tasks.create_task(self._catch_up(device, resume.after))

    async def _open(self, user: str, body: Configuration) -> None:
        """A new conversation: its row, named like its room, belongs to whoever opened it."""
        if body.conversation_id not in ("", self.id):
            raise RemoteProtocolError(ErrorCode.NOT_FOUND, "this conversation does not exist here")
        try:
            row = await self._services.ledger.create(self.id, user, preferences=body.preferences)
        except NotFound:
            raise RemoteProtocolError(ErrorCode.NOT_FOUND, "this conversation does not exist here") from None
        try:
            with reaching():
                await self._take_on(row)
        except DatabaseUnavailable:
            # What is only half known would never be read again.
            self._owner = None
            raise

    async def _catch_up(self, device: Device, after: int) -> None:
        try:
            await self._line.catch_up(device, after)
        except DatabaseUnavailable:
            # The device finds itself behind the next head that is stated, and asks again.
            device.ready = True

    def _begin(self, question: Question, history: History | None = None) -> Answer:
        return Answer(
            question,
            user_id=self._owner or "",
            line=self._line,
            history=history or self._history,
            model=self._services.calling,
            recall=self._services.recall,
            tools=self._services.tools,
            client_tools=self._client_tools,
            time_zone=self._devices.time_zone(question.device),
            budget=self._services.room(),
            max_tokens=self._services.answer_tokens,
            streaming=self._devices.streaming(),
            expect=self.talk.foresee,
            say=self.talk.say,
        )

"""The application's handle on a conversation."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final, Self

import msgspec
import structlog

from alicia import ids
from alicia.client.access import Access, Door
from alicia.client.answer import Answer
from alicia.client.branches import Branch, branches
from alicia.client.driver import Driver
from alicia.client.events import Event, Hub, LogRestarted, State
from alicia.client.log import Log
from alicia.client.sound import Speech
from alicia.client.store import Store
from alicia.client.tools import ToolRunner, Tools
from alicia.errors import AliciaError
from alicia.protocol.envelope import Envelope
from alicia.protocol.messages import (
    AssistantMessage,
    AssistantSentence,
    Body,
    ControlStop,
    ControlVariation,
    Erasure,
    Map,
    StartAnswer,
    StopType,
    UserMessage,
    UserNote,
)

log = structlog.get_logger(__name__)

LINGER_SECONDS: Final = 5.0
"""How long leaving waits for what was sent to be confirmed."""


class Conversation:
    """A conversation that stays connected by itself; make it with `alicia.connect`.

    Whatever is sent is on disk when the call returns, waits while the server is away, and is sent again until
    it is confirmed, if need be by the next program that opens the conversation here.
    """

    def __init__(
        self,
        door: Door,
        store: Store,
        conversation_id: str | None,
        settings: Map,
        history: bool,
        tools: Tools | None = None,
    ) -> None:
        self._hub = Hub(unheard=None) if history else Hub()
        self._log = Log(store, self._hub, conversation_id, history=history)
        self._driver = Driver(door, self._log, self._hub, settings["device"], settings)
        self._tools = ToolRunner(
            tools or (),
            self._hub,
            device=settings["device"],
            caught_up=self._driver.caught_up,
            send=self._submit,
        )
        settings["tools"] = None if tools is None else self._tools.announced
        self._current = _Current(self._hub)
        self._failure: AliciaError | None = None

    @property
    def id(self) -> ids.ConversationId | None:
        """The conversation's id; None only while a new one has not reached the server yet."""
        return ids.ConversationId(self._log.id) if self._log.id else None

    @property
    def state(self) -> State:
        """How it is connected now."""
        return self._driver.state

    @property
    def outbox(self) -> tuple[Body, ...]:
        """What was sent and is not confirmed yet, oldest first."""
        return self._log.outbox

    @property
    def log(self) -> Sequence[Envelope]:
        """Every durable stanza so far, in order, if `history` was asked for; else empty."""
        return self._log.entries

    def branches(self) -> list[Branch]:
        """What was said, and what was said instead of it, if `history` was asked for; else none."""
        return branches(self._log.entries)

    @property
    def answering(self) -> ids.MessageId | None:
        """The answer that is being given now, whoever asked."""
        return self._current.answer_id

    async def events(self) -> AsyncGenerator[Event, None]:
        """Everything that happens from here on, live and replayed, each once, until the conversation closes.

        The first call also gets what has happened since `connect`, and a call after another has ended goes on
        where that one stopped. An event counts as handled when the next one is asked for; those that were not
        handled come again when the program is started the next time.
        """
        subscription = self._hub.subscribe()
        try:
            async for event in subscription:
                yield event
        finally:
            subscription.close()

    def ask(self, text: str, *, previous_id: ids.MessageId | None = None, meta: Map | None = None) -> Answer:
        """Send a message at once; iterate over what this returns to follow the answer, or await its text.

        `previous_id` is the message that it follows, by default the newest. `meta` is kept with it.
        """
        return self._follow(
            UserMessage(
                id=ids.new(ids.MessageId),
                conversation_id=self._address,
                previous_id=previous_id,
                content=text,
                timestamp=datetime.now(UTC).isoformat(),
            ),
            meta,
        )

    def edit(self, message_id: ids.MessageId, text: str) -> Answer:
        """Say something else in place of an earlier message of the user's, and follow the new answer."""
        return self._vary(message_id, "edit", text)

    def regenerate(self, message_id: ids.MessageId) -> Answer:
        """Have an answer given again, and follow the new one."""
        return self._vary(message_id, "regenerate", None)

    async def note(
        self, text: str, *, message_id: ids.MessageId | None = None, note_type: str | None = None
    ) -> ids.NoteId:
        """Write a note on a message, or on the conversation."""
        note = UserNote(
            id=ids.new(ids.NoteId),
            conversation_id=self._address,
            message_id=message_id,
            content=text,
            note_type=note_type,
        )
        await self.send(note)
        return note.id

    async def speak(self, speech: Speech, *, rate: int = 16_000) -> None:
        """Say something in real time; what was understood comes as Transcriptions and a UserMessage.

        `speech` is a WAV file of one channel and 16 bits, or its bytes, or an iterator of such samples as
        they come, `rate` of them a second. Returns when the last of it is on its way; the microphone stays
        open.
        """
        await self.online()
        await self._driver.sound.speak(speech, rate)

    def listen(self) -> AsyncGenerator[bytes, None]:
        """What the agent says, 20 ms at a time: one channel, 16 bits, 24,000 samples a second.

        Needs the feature `voice`, without which nothing is said. Between sentences there is silence.
        """
        return self._driver.sound.listen()

    async def stop(self, target_id: ids.MessageId | None = None, *, stop_type: StopType = "all") -> bool:
        """Stop an answer, by default the one that is being given; false if there is none."""
        target_id = target_id or self.answering
        if target_id is None:
            return False
        await self.send(ControlStop(conversation_id=self._address, target_id=target_id, stop_type=stop_type))
        return True

    async def send(self, body: Body, *, meta: Map | None = None) -> None:
        """Send any body that a client may send; it is addressed to this conversation whatever it says.

        Returns when it is safe on disk; `flush` waits until it is stored by the server. InvalidMessage says
        what an agent would refuse.
        """
        self._submit(body, meta)

    async def online(self) -> None:
        """Wait until an agent is there."""
        if self.state is State.ONLINE:
            return
        subscription = self._hub.subscribe(lambda _: self.state is State.ONLINE)
        try:
            await anext(subscription)
        finally:
            subscription.close()

    async def caught_up(self) -> None:
        """Wait until all that happened before now has been heard."""
        await self._ended_or(self._driver.caught_up.wait())

    async def flush(self) -> None:
        """Wait until everything that was sent is confirmed."""
        await self._ended_or(self._driver.idle.wait())

    async def _ended_or(self, waiting: Coroutine[Any, Any, Any]) -> None:
        """Wait for something that can't come any more once the conversation has ended."""
        end = self._hub.subscribe(lambda _: False)
        tasks = {asyncio.ensure_future(waiting), asyncio.ensure_future(anext(end))}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            end.close()

    @property
    def _address(self) -> ids.ConversationId:
        return self._log.address

    def _vary(self, message_id: ids.MessageId, mode: str, text: str | None) -> Answer:
        return self._follow(
            ControlVariation(
                id=ids.new(ids.MessageId),
                conversation_id=self._address,
                target_id=message_id,
                mode="edit" if mode == "edit" else "regenerate",
                content=text,
            )
        )

    def _follow(self, body: UserMessage | ControlVariation, meta: Map | None = None) -> Answer:
        async def stop(target_id: ids.MessageId) -> None:
            await self.stop(target_id)

        answer = Answer(self._hub, body, stop)
        try:
            self._submit(body, meta)
        except AliciaError:
            answer.close()
            raise
        return answer

    def _submit(self, body: Body, meta: Map | None = None) -> None:
        if self._failure is not None:
            raise self._failure
        self._log.submit(msgspec.structs.replace(body, conversation_id=self._address), meta)
        self._driver.wake()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Self]:
        """Stay connected inside the block. Raises at once what trying again can't mend."""
        access = await self._driver.first_knock()
        task = asyncio.create_task(self._run(access))
        try:
            yield self
            if self.state is State.ONLINE:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LINGER_SECONDS):
                        await self.flush()
        finally:
            await self._tools.aclose()
            task.cancel()
            await asyncio.wait([task])
            if not self._hub.ever_claimed:
                self._hub.give_up_unclaimed()
            self._log.save()
            self._hub.end()

    async def _run(self, access: Access | None) -> None:
        try:
            await self._driver.run(access)
        except AliciaError as error:
            self._end(error)
        except Exception as error:
            log.exception("connection broke by a fault of its own", conversation_id=self.id)
            fault = AliciaError(f"The connection broke by a fault of its own: {error!r}")
            fault.__cause__ = error
            self._end(fault)

    def _end(self, error: AliciaError) -> None:
        self._failure = error
        self._hub.end(error)


class _Current:
    """Knows which answer is being given."""

    def __init__(self, hub: Hub) -> None:
        self._open: list[ids.MessageId] = []
        hub.subscribe(self._notice)

    @property
    def answer_id(self) -> ids.MessageId | None:
        return self._open[-1] if self._open else None

    def _notice(self, event: Event) -> bool:
        """Never wants an event, only looks at it."""
        match event:
            case StartAnswer():
                self._open.append(event.id)
            case AssistantSentence(is_final=True):
                self._over(event.previous_id)
            case AssistantMessage():
                self._over(event.id)
            case Erasure():
                self._open = [each for each in self._open if each not in event.ids]
            case LogRestarted():
                self._open.clear()
            case _:
                pass
        return False

    def _over(self, answer_id: ids.MessageId) -> None:
        if answer_id in self._open:
            self._open.remove(answer_id)

"""What devices send: stored once, told to all, and then having its effect."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, cast

from msgspec.structs import replace

from alicia.engine.allowance import Allowance
from alicia.engine.answers import Answers
from alicia.engine.broadcast import Broadcast
from alicia.engine.clips import Clips
from alicia.engine.devices import Device
from alicia.engine.services import Services
from alicia.engine.talk import Talk
from alicia.engine.tool_words import result_entry
from alicia.errors import DatabaseUnavailable, ErrorCode, RemoteProtocolError
from alicia.ledger.entries import Entry
from alicia.ledger.known import Known
from alicia.protocol.envelope import Envelope
from alicia.protocol.messages import (
    AudioChunk,
    Body,
    ControlStop,
    ControlVariation,
    ToolUseResult,
    UserMessage,
    UserNote,
)
from alicia.protocol.session import Verdict, identity
from alicia.storage.messages import Message, message
from alicia.storage.pool import reaching
from alicia.telemetry import metrics
from alicia.telemetry.tracing import Context, turn
from alicia.tools.client import ClientTools
from alicia.tools.outcome import ToolOutcome

_allowance: Final = Allowance()

LEFT: Final = "this message belongs to a branch that was left: choose one of the branch that is shown now"

TAKEN = UserMessage | UserNote | ControlStop | ControlVariation | ToolUseResult | AudioChunk


class Hearing:
    """Takes the bodies of one conversation's devices, one after the other."""

    def __init__(
        self,
        services: Services,
        line: Broadcast,
        answers: Answers,
        client_tools: ClientTools,
        talk: Talk,
        clips: Clips,
    ) -> None:
        self._services = services
        self._line = line
        self._answers = answers
        self._client_tools = client_tools
        self._talk = talk
        self._clips = clips
        self._unsure: dict[tuple[object, ...], Callable[[], None]] = {}
        """The effects of what may or may not have been stored when the database went away."""

    async def take(self, owner: str, device: Device, envelope: Envelope) -> None:
        """Store what a device sent, unless it is stored already; RemoteProtocolError says why not."""
        session, body = self._line.session, envelope.body
        if not isinstance(body, TAKEN):
            raise RemoteProtocolError(ErrorCode.WRONG_STATE, f"nothing here takes a {type(body).__name__}")
        known = await self._services.ledger.known(session.conversation_id, body)
        target = await self._target(owner, known)
        verdict = session.accept(envelope, known.stored)
        if verdict is Verdict.REDELIVERY:
            metrics.redeliveries.inc()
            if effect := self._unsure.pop(identity(body), None):
                async with self._answers.placing:
                    effect()
            receipt = session.acknowledge(envelope, known.server_id, known.sync_status)
            await self._line.tell(receipt, device.identity)
        elif verdict is Verdict.NEW:
            _allowance.count(owner, session, envelope, time.monotonic())
            try:
                with turn("message", Context.of(envelope.meta), conversation_id=session.conversation_id):
                    await self._store(device, envelope, known, target)
            except (DatabaseUnavailable, RemoteProtocolError):
                session.release(envelope)
                raise

    async def _store(self, device: Device, envelope: Envelope, known: Known, target: Message | None) -> None:
        body = known.body
        match body:
            case UserMessage():
                async with self._answers.placing:
                    follows = self._answers.tip() if target is None else target.previous_id
                    placed = replace(body, previous_id=body.previous_id or follows)
                    echo = Entry(placed, envelope.meta)
                    with self._storing(envelope, lambda: self._answers.hear(placed, device.identity)):
                        await self._line.take(device, envelope, known, echo)
            case ControlStop():
                stop = self._talk.stopped(body)
                with self._storing(envelope, lambda: self._stop(body)):
                    await self._line.take(device, envelope, known, Entry(stop, envelope.meta))
            case ControlVariation() if target is not None:
                async with self._answers.placing:
                    await self._vary(device, envelope, known, body, target)
            case ToolUseResult():
                await self._hear_result(device, envelope, known, body)
            case AudioChunk():
                part = self._clips.accept(body)
                with self._storing(envelope, lambda: self._clips.stored(body, device.identity)):
                    await self._line.take(device, envelope, known, Entry(part, envelope.meta))
            case _:
                await self._line.take(device, envelope, known)

    @contextmanager
    def _storing(self, envelope: Envelope, effect: Callable[[], None]) -> Generator[None]:
        """What is stored in here has this effect, at once or when a redelivery shows that it was stored."""
        sent = identity(cast("Body", envelope.body))
        self._unsure[sent] = effect
        yield
        self._unsure.pop(sent, None)
        effect()

    def _stop(self, stop: ControlStop) -> None:
        if stop.stop_type != "speech":
            self._answers.stop(stop.target_id)

    async def _hear_result(
        self, device: Device, envelope: Envelope, known: Known, body: ToolUseResult
    ) -> None:
        """A device's tool has ended: that is the use's one result, unless it had ended before."""
        outcome = ToolOutcome(
            status="success" if body.success else "error",
            result=body.result,
            error_code=body.error_code,
            error_message=body.error_message,
        )
        if not self._client_tools.answer(device.identity, body.request_id, outcome):
            raise RemoteProtocolError(ErrorCode.WRONG_STATE, "nobody waits for this result any more")
        entry = result_entry(body.conversation_id, body.request_id, outcome)
        # From here on it must be stored: nobody else will end this use.
        await self._line.insist(device, envelope, known, replace(entry, meta=envelope.meta))

    async def _target(self, owner: str, known: Known) -> Message | None:
        """What a message or a variation is to replace; what is new must hang on the branch that holds."""
        body = known.body
        if known.stored or not isinstance(body, ControlVariation | UserMessage):
            return None
        if isinstance(body, UserMessage):
            await self._must_hold(owner, body.previous_id)
        target_id = body.target_id if isinstance(body, ControlVariation) else body.supersedes
        if target_id is None:
            return None
        target = await self._message(owner, target_id)
        if target is None:
            raise RemoteProtocolError(ErrorCode.WRONG_STATE, LEFT)
        before = await self._must_hold(owner, target.previous_id)
        if before is None and target.message_role == "assistant":
            raise RemoteProtocolError(ErrorCode.WRONG_STATE, "the question was erased: ask it anew")
        return target

    async def _must_hold(self, owner: str, message_id: str | None) -> Message | None:
        """The message, unless it is erased; RemoteProtocolError when its branch was left."""
        if message_id is None:
            return None
        found = await self._message(owner, message_id)
        if found is not None and found.superseded_by is not None:
            raise RemoteProtocolError(ErrorCode.WRONG_STATE, LEFT)
        return found

    async def _message(self, owner: str, message_id: str) -> Message | None:
        with reaching():
            async with self._services.pool.connection() as conn:
                return await message(conn, owner, message_id)

    async def _vary(
        self, device: Device, envelope: Envelope, known: Known, body: ControlVariation, target: Message
    ) -> None:
        """A new branch: an edited question, or another answer to the same one."""
        if body.mode == "edit":
            edited = UserMessage(
                conversation_id=body.conversation_id,
                id=body.id,
                previous_id=target.previous_id,
                content=body.content or "",
                supersedes=target.id,
            )
            entries = Entry(body, envelope.meta), Entry(edited)
            with self._storing(envelope, lambda: self._answers.hear(edited, device.identity)):
                await self._line.take(device, envelope, known, *entries)
        else:
            with self._storing(envelope, lambda: self._answer_again(body, target, device)):
                await self._line.take(device, envelope, known)

    def _answer_again(self, body: ControlVariation, target: Message, device: Device) -> None:
        if target.previous_id is not None:
            self._answers.answer_again(target.previous_id, target.id, body.id, device.identity)

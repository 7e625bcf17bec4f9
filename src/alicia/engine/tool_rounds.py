"""The tool uses of one answer: stored before they run, run side by side, and ended exactly once each."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

import msgspec
import structlog

from alicia import ids
from alicia.engine.ports import ToolBox
from alicia.engine.tool_words import answer_of, as_json, notes_on, parameters_of, result_entry
from alicia.errors import ErrorCode, LocalProtocolError
from alicia.ledger.entries import Begun, Entry
from alicia.llm.messages import Message, Tool, ToolCall
from alicia.protocol.messages import ToolUseRequest
from alicia.storage.tools import ToolUse as Stored
from alicia.telemetry import metrics
from alicia.telemetry.tracing import span
from alicia.tools.client import ClientEnding, ClientRequest, ClientTools
from alicia.tools.definition import Caller
from alicia.tools.outcome import ToolOutcome, cancelled, failed
from alicia.tools.uses import ToolUse

log = structlog.get_logger(__name__)

MOST_ROUNDS: Final = 8
"""So often an answer may call tools; then it must be given with what is known."""
MOST_CALLS: Final = 32
"""At once; a model that asks for more has lost its way."""
GRACE: Final = 2.0
"""Seconds that a stopped tool has to end; the answer does not wait for one that ignores that longer."""
BYTES_PER_TOKEN: Final = 3
LEAST_TOLD: Final = 400
"""Bytes of a result that a model is always told."""


class Line(Protocol):
    """The way out; `Broadcast` is one."""

    async def emit(self, *entries: Entry) -> None:
        """Store these, then send them."""
        ...


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """For which answer tools are used, and for whom."""

    caller: Caller
    conversation_id: ids.ConversationId
    answer_id: ids.MessageId
    device: str | None = None
    """The identity of the device that asked, whose own tools are preferred."""


class _Use(msgspec.Struct, frozen=True):
    """One call on its way: run here, waited for from a device, or failed already."""

    call: ToolCall
    request: ToolUseRequest
    given: ClientRequest | ToolOutcome | None = None


class ToolRounds:
    """What one answer does with tools. `stop` ends all that runs; each use then still gets its one result.

    `next_step` numbers the requests among the answer's other steps.
    """

    def __init__(
        self, asked: Asked, line: Line, box: ToolBox, clients: ClientTools, next_step: Callable[[], int]
    ) -> None:
        self.messages: list[Message] = []
        """What was called and what came of it, for the prompt."""
        self.used: list[ToolCall] = []
        self._asked = asked
        self._line = line
        self._box = box
        self._clients = clients
        self._next_step = next_step
        self.left = MOST_ROUNDS
        """How often tools may still be called."""
        self._room = 0
        self._ended: list[tuple[ToolCall, ToolOutcome]] = []
        self._stopped = asyncio.Event()

    def offers(self) -> list[Tool]:
        """What the model may call now: nothing, once it has called often enough."""
        if not self.left:
            return []
        own = self._box.available(self._asked.caller.user_id)
        return [*own, *self._clients.available({tool.name for tool in own})]

    def make_room(self, tokens: int) -> None:
        """Let the prompt hold so much of what tools give."""
        self._room = tokens * BYTES_PER_TOKEN

    @property
    def notes(self) -> str:
        """What the prompts of later answers are told of it."""
        return notes_on(self._ended)

    def stop(self) -> None:
        """End what runs; nothing more is begun."""
        self._stopped.set()

    async def recover(self, stored: Sequence[Stored]) -> None:
        """Go on after an agent that died: what ended is known, what it left running is cancelled, once."""
        ended = [(each, _outcome_of(each)) for each in stored]
        left = [(each.id, outcome) for each, outcome in ended if each.completed_at is None]
        if left:
            await self._line.emit(*(result_entry(self._asked.conversation_id, *each) for each in left))
        if ended:
            self._tell("", [(_call_of(each), outcome) for each, outcome in ended])

    async def run(self, said: str, calls: Sequence[ToolCall]) -> None:
        """Run these calls; `said` is what the model said before it asked for them."""
        self.left -= 1
        uses = [self._prepare(call) for call in calls[:MOST_CALLS]]
        for use in uses:
            if isinstance(use.given, ClientRequest):
                self._clients.expect(use.request.id, use.given.device)
        begun = Begun(running=True)
        await self._line.emit(
            *(Entry(use.request, private=begun if use.given is None else None) for use in uses)
        )
        ended = await self._run_all(uses)
        self._tell(said, [(use.call, outcome) for use, outcome in zip(uses, ended, strict=True)])

    def _prepare(self, call: ToolCall) -> _Use:
        """What is to be stored of a call, and who is to run it: a server's tool goes before a device's."""
        seconds = self._box.timeout(call.name)
        given: ClientRequest | ToolOutcome | None = None
        if seconds is None and any(tool.name == call.name for tool in self._clients.available()):
            given = self._clients.request(call, prefer=self._asked.device)
        if isinstance(given, ClientRequest):
            seconds = given.seconds
        request = ToolUseRequest(
            conversation_id=self._asked.conversation_id,
            id=ids.new(ids.ToolUseId),
            message_id=self._asked.answer_id,
            sequence=self._next_step(),
            tool_name=call.name.replace("\0", "")[:200],
            parameters=parameters_of(call),
            execution="server" if given is None else "client",
            device=given.device.rpartition(":")[2] if isinstance(given, ClientRequest) else None,
            timeout_ms=None if seconds is None else round(seconds * 1000),
        )
        return _Use(call, request, given)

    async def _run_all(self, uses: Sequence[_Use]) -> list[ToolOutcome]:
        """Store each result as it comes. Only this task writes them, so a stop never cuts a write in half."""
        tasks = {asyncio.create_task(self._end(use)): use for use in uses}
        stopped = asyncio.create_task(self._stopped.wait())
        outcomes: dict[ids.ToolUseId, ToolOutcome] = {}
        try:
            waiting = set(tasks)
            while waiting:
                done, _ = await asyncio.wait({*waiting, stopped}, return_when=asyncio.FIRST_COMPLETED)
                if stopped in done:
                    await self._stop_all({task: tasks[task] for task in waiting})
                    done = waiting
                ended = [task for task in tasks if task in done and task in waiting]
                waiting -= set(ended)
                outcomes |= await self._store((tasks[task], _ending(task)) for task in ended)
        finally:
            for task in (*tasks, stopped):
                task.cancel()
            await asyncio.wait({*tasks, stopped}, timeout=GRACE)
        return [outcomes[use.request.id] for use in uses]

    async def _end(self, use: _Use) -> ClientEnding:
        """Run one use to its end."""
        if isinstance(use.given, ToolOutcome):
            return ClientEnding(use.given, told=False)
        with span("tool", tool_use_id=use.request.id):
            if use.given is not None:
                return await self._clients.ending(use.request.id, use.given.seconds)
            return ClientEnding(await self._box.run(self._asked.caller, use.call), told=False)

    async def _stop_all(self, running: dict["asyncio.Task[ClientEnding]", _Use]) -> None:
        for task, use in running.items():
            if isinstance(use.given, ClientRequest):
                # Not cancelled: a device may have been faster, and its answer is being stored then.
                self._clients.stop(use.request.id)
            else:
                task.cancel()
        _, deaf = await asyncio.wait(running, timeout=GRACE)
        for task in deaf:
            log.warning("tool ignores that it is stopped", tool=running[task].call.name[:80])

    async def _store(self, endings: Iterable[tuple[_Use, ClientEnding]]) -> dict[ids.ToolUseId, ToolOutcome]:
        """Append the results that nobody has appended yet, each with its effects."""
        outcomes: dict[ids.ToolUseId, ToolOutcome] = {}
        for use, ending in endings:
            outcomes[use.request.id] = ending.outcome
            if not ending.told:
                outcomes[use.request.id] = await self._append(use.request.id, ending.outcome)
            metrics.tool_uses.labels(outcomes[use.request.id].status).inc()
        return outcomes

    async def _append(self, use_id: ids.ToolUseId, outcome: ToolOutcome) -> ToolOutcome:
        conversation_id = self._asked.conversation_id
        try:
            await self._line.emit(result_entry(conversation_id, use_id, outcome), *outcome.effects)
        except LocalProtocolError as error:
            cause = type(error.__cause__ or error).__name__
            log.warning("tool result not storable", tool_use_id=use_id, reason=cause)
            outcome = failed(ErrorCode.TOOL_FAILED, "The tool's result cannot be stored.")
            await self._line.emit(result_entry(conversation_id, use_id, outcome))
        return outcome

    def _tell(self, said: str, ended: Sequence[tuple[ToolCall, ToolOutcome]]) -> None:
        """Add what was called and what came of it to the prompt; large results share the room there."""
        share = max(self._room // len(ended), LEAST_TOLD)
        self.used += [call for call, _ in ended]
        self._ended += ended
        self.messages.append(Message("assistant", said, tool_calls=tuple(call for call, _ in ended)))
        for call, outcome in ended:
            content = answer_of(outcome, share)
            self._room -= len(content)
            self.messages.append(Message("tool", content, tool_call_id=call.id))


def _ending(task: "asyncio.Task[ClientEnding]") -> ClientEnding:
    """How a use ended whose task is done, or given up."""
    if not task.done() or task.cancelled():
        return ClientEnding(cancelled(), told=False)
    return task.result()


def _call_of(stored: Stored) -> ToolCall:
    return ToolCall(stored.id, stored.tool_name, as_json(stored.tool_arguments))


def _outcome_of(stored: Stored) -> ToolOutcome:
    if stored.status in ("success", "error", "cancelled"):
        return ToolOutcome(
            status=stored.status, result=stored.tool_result, error_message=stored.error_message
        )
    use = ToolUse(stored.status)
    use.abandon()
    return use.outcome or cancelled()

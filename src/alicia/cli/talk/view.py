"""What a conversation looks like on the screen."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Final

from alicia import ids
from alicia.cli.talk.lines import Turn, aside, branch_turns, short, tool_line, transcript
from alicia.cli.talk.screen import PROMPT, Screen
from alicia.client import Branch, Conversation, Event, LogRestarted, State, StateChange
from alicia.errors import ErrorCode
from alicia.protocol.messages import (
    AssistantMessage,
    AssistantSentence,
    Configuration,
    Erasure,
    ErrorMessage,
    StartAnswer,
    ToolUseRequest,
    ToolUseResult,
    UserMessage,
    UserNote,
)

RECENT: Final = 6
"""So many messages are shown of a conversation that goes on."""
FEW: Final = 60
"""What was missed is shown as it happened if it is no more than this."""
REPLAY_SECONDS: Final = 20.0


class View:
    """Shows a conversation's events; `pending` are the messages from here that have no whole answer yet."""

    def __init__(self, conversation: Conversation, screen: Screen, changed: Callable[[], None]) -> None:
        self.pending: dict[ids.MessageId, str] = {}
        """Their ids and, once it has begun, their answers'."""
        self.sent: set[str] = set()
        self.settled = False
        """Whether it is known by now how the conversation stands."""
        self._conversation, self._screen, self._changed = conversation, screen, changed
        self._seen = 0
        self._lost = False
        self._requests: dict[str, ToolUseRequest] = {}

    async def run(self) -> None:
        """Show what happens until the conversation is closed."""
        async for event in self._conversation.events():
            await self._show(event)
            self._changed()

    def history(self) -> None:
        """Show all that was said."""
        self._say(transcript(self._conversation.log))

    def branch(self, branch: Branch) -> None:
        """Show all that was said in a branch."""
        self._say(branch_turns(branch))

    async def _show(self, event: Event) -> None:
        log = self._conversation.log
        if self._seen < len(log) and event is log[self._seen].body:
            self._seen += 1
        elif isinstance(event, LogRestarted):
            self._seen = 0
        elif not isinstance(event, StateChange | ErrorMessage | Configuration):
            # Transient, or shown already with all the rest that was missed.
            return
        match event:
            case Configuration():
                await self._catch_up(event.last_server_stanza_id or 0)
            case StateChange():
                self._show_state(event)
            case UserMessage():
                self._show_message(event)
            case StartAnswer():
                self._expect(event)
            case AssistantSentence():
                self._screen.stream(event.text)
                if event.is_final:
                    self._close(event.previous_id, event.status)
            case AssistantMessage():
                self._screen.stream(event.content)
                self._close(event.id, event.status)
            case UserNote() if event.id not in self.sent:
                self._screen.aside(f"note    {short(event.content)}")
            case ToolUseRequest():
                self._requests[event.id] = event
            case ToolUseResult():
                if request := self._requests.pop(event.request_id, None):
                    self._screen.aside(tool_line(request, event))
            case ErrorMessage():
                self._show_error(event)
            case Erasure():
                self._forget(*event.ids)
                self._screen.aside("something was erased")
            case _:
                if line := aside(event):
                    self._screen.aside(line)

    async def _catch_up(self, head: int) -> None:
        """After a Configuration a replay up to `head` may follow: if it is long, show only how it ends."""
        try:
            async with asyncio.timeout(REPLAY_SECONDS):
                await self._conversation.caught_up()
        except TimeoutError:
            return
        # What has happened since then is no part of the replay, and is shown as it happened.
        replayed = list(
            itertools.takewhile(lambda envelope: envelope.stanza_id >= head, self._conversation.log)
        )
        if len(replayed) - self._seen > (FEW if self.settled else 0):
            turns = transcript(replayed)
            if len(turns) > RECENT:
                self._screen.aside(f"{len(turns) - RECENT} earlier; /history shows them")
            self._say(turns[-RECENT:])
            for envelope in replayed[self._seen :]:
                if isinstance(envelope.body, StartAnswer):
                    self._expect(envelope.body)
            self._forget(*(turn.id for turn in turns if turn.status not in ("", "streaming")))
            self._seen = len(replayed)
        self.settled = True

    def _expect(self, start: StartAnswer) -> None:
        if start.previous_id in self.pending:
            self.pending[start.previous_id] = start.id
        if start.id in self.pending.values():
            self._screen.wait()

    def _say(self, turns: list[Turn]) -> None:
        for turn in turns:
            match turn.role:
                case "user":
                    self._screen.line(f"{PROMPT}{turn.text}", "bold")
                case "note":
                    self._screen.aside(f"note    {short(turn.text)}")
                case _:
                    self._screen.line(turn.text)
                    if turn.status not in ("completed", "streaming"):
                        self._screen.aside(turn.status)
                    self._screen.line("")

    def _show_state(self, change: StateChange) -> None:
        lost, self._lost = self._lost, change.state is not State.ONLINE
        match change.state:
            case State.OFFLINE:
                self._screen.aside(f"offline: {change.reason} What you write waits and goes out by itself.")
                self.settled = True
            case State.CONNECTING:
                self._screen.aside(f"{change.reason} Reconnecting…")
            case State.ONLINE if lost:
                waiting = len(self._conversation.outbox)
                self._screen.aside("online again" + (f"; {waiting} waiting to go out" if waiting else ""))
            case _:
                pass

    def _show_message(self, message: UserMessage) -> None:
        if message.local_id is not None and message.local_id in self.pending:
            self.pending[message.id] = self.pending.pop(ids.MessageId(message.local_id))
        elif message.id not in self.sent:
            self._screen.line(f"{PROMPT}{message.content}", "bold")

    def _show_error(self, error: ErrorMessage) -> None:
        self._screen.line(f"  ! {error.message}", "red")
        if error.code < ErrorCode.TOO_MANY and error.originating_id is not None:
            self._forget(error.originating_id)

    def _close(self, answer_id: str, status: str | None) -> None:
        # First, because Ctrl-C means something else once the end can be seen.
        self._forget(answer_id)
        self._screen.finish()
        if status in ("stopped", "failed"):
            self._screen.aside(status)
        self._screen.line("")

    def _forget(self, *over: str) -> None:
        gone = set(over)
        self.pending = {ask: got for ask, got in self.pending.items() if not {ask, got} & gone}

"""A talk in a terminal: the person's line in the main thread, the conversation in another."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Final, Literal, TypeVar

from rich.console import Console

from alicia.cli.talk.keyboard import Keyboard, unechoed
from alicia.cli.talk.lines import branch_lines
from alicia.cli.talk.screen import PROMPT, Screen
from alicia.cli.talk.view import View
from alicia.client import AliciaError, Conversation, Said, State
from alicia.protocol.messages import AssistantMessage, AssistantSentence

T = TypeVar("T")
Connect = Callable[[str | None], AbstractAsyncContextManager[Conversation]]

FLUSH_SECONDS: Final = 2.0
"""How long leaving waits for what was sent to be confirmed."""
LOOK_SECONDS: Final = 0.5
"""How often somebody who waits looks whether the server is still there."""
HELP: Final = """\
/stop            end the answer that is being given (so does Ctrl-C)
/regenerate      have the last answer given again
/edit TEXT       say something else in place of your last message
/branches [N]    show what was said before it was edited or given again
/note TEXT       write a note on the last answer
/history         show all that was said
/new             begin a new conversation
/open ac_…       go on with another one
/quit            leave (so do Ctrl-D, and Ctrl-C twice)"""


class _Leave(Exception):
    """The person wants to go."""


class Terminal:
    """Reads lines and does what they say."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._screen = Screen(Console())
        self._keyboard = Keyboard()
        self._background = Background()
        self._stack = AsyncExitStack()
        self._conversation: Conversation | None = None
        self._view: View | None = None

    def run(self, conversation_id: str | None) -> int:
        """Until the person leaves."""
        with self._background:
            try:
                with contextlib.suppress(_Leave, EOFError):
                    self._begin(conversation_id)
                    self._loop()
                self._call(self._say_goodbye())
            finally:
                self._call(self._stack.aclose())
                self._keyboard.close()
        return 0

    def _begin(self, conversation_id: str | None) -> None:
        with unechoed():
            self._call(self._open(conversation_id))
            self._until(lambda view: view.settled or not conversation_id)

    def _loop(self) -> None:
        interrupted = False
        while True:
            try:
                if interrupted:
                    self._screen.aside("Ctrl-C again, or /quit, leaves")
                line = self._screen.ask(self._keyboard.take()).strip()
                interrupted = False
                with unechoed():
                    if line:
                        self._do(line)
                    self._until(lambda view: not view.pending)
            except EOFError:
                self._screen.line("")
                return
            except KeyboardInterrupt:
                self._keyboard.take()
                self._screen.line("")
                if interrupted:
                    return
                interrupted = True

    def _until(self, over: Callable[[View], bool]) -> None:
        """Watch what happens; lines that are typed meanwhile count, and Ctrl-C stops the answer."""
        stopped = False
        while self._conversation is not None and (view := self._view) is not None and not over(view):
            if self._conversation.state is State.OFFLINE:
                return
            try:
                for line in self._keyboard.lines():
                    self._screen.line(f"{PROMPT}{line}", "bold")
                    self._do(line.strip())
            except KeyboardInterrupt:
                if stopped or not view.pending:
                    raise
                stopped = True
                self._call(self._stop())

    def _do(self, line: str) -> None:
        """Do what a line says."""
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        try:
            match word:
                case "/quit" | "/exit":
                    raise _Leave
                case "/help":
                    self._screen.line(HELP, "dim")
                case "/stop":
                    self._call(self._stop())
                case "/regenerate":
                    self._call(self._regenerate())
                case "/edit":
                    self._call(self._edit(rest))
                case "/branches":
                    self._call(self._branches(rest))
                case "/note":
                    self._call(self._note(rest))
                case "/history":
                    self._call(self._history())
                case "/new":
                    self._call(self._open(None))
                case "/open":
                    self._call(self._open(rest))
                    self._until(lambda view: view.settled)
                case _ if word.startswith("/") and "/" not in word[1:]:
                    self._screen.aside(f"There is no {word}; /help shows what there is.")
                case _:
                    self._call(self._ask(line))
        except AliciaError as error:
            self._screen.line(f"  ! {error}", "red")

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._background.call(work)

    # What follows runs in the conversation's thread.

    async def _open(self, conversation_id: str | None) -> None:
        stack = AsyncExitStack()
        conversation, view = await stack.enter_async_context(self._shown(conversation_id))
        earlier, self._stack = self._stack, stack
        self._conversation, self._view = conversation, view
        await earlier.aclose()
        self._screen.line(f"Alicia · {conversation.id or 'a new conversation'} · /help", "dim")

    @asynccontextmanager
    async def _shown(self, conversation_id: str | None) -> AsyncGenerator[tuple[Conversation, View]]:
        """A conversation, and the view that shows it until it is closed."""
        async with self._connect(conversation_id) as conversation:
            view = View(conversation, self._screen, self._keyboard.wake)
            shown = asyncio.create_task(self._watch(view))
            yield conversation, view
        await shown

    async def _watch(self, view: View) -> None:
        try:
            await view.run()
        except AliciaError as error:
            self._screen.line(f"  ! {error}", "red")
            self._conversation = None
            self._keyboard.wake()

    async def _ask(self, text: str) -> None:
        conversation, view = self._need()
        answer = conversation.ask(text)
        answer.close()
        if answer.question_id is not None:
            view.pending[answer.question_id] = ""
            view.sent.add(answer.question_id)
        if conversation.state is State.OFFLINE:
            self._screen.aside(f"offline: waiting to go out ({len(conversation.outbox)})")

    async def _regenerate(self) -> None:
        conversation, view = self._need()
        last = self._last(conversation, "assistant")
        if last is None:
            self._screen.aside("there is no answer yet")
            return
        again = conversation.regenerate(last.id)
        again.close()
        if again.id is not None:
            view.pending[again.id] = again.id

    async def _edit(self, text: str) -> None:
        conversation, view = self._need()
        last = self._last(conversation, "user")
        if not text or last is None:
            self._screen.aside("/edit TEXT" if last else "there is no message yet")
            return
        answer = conversation.edit(last.id, text)
        answer.close()
        if answer.question_id is not None:
            view.pending[answer.question_id] = ""
            view.sent.add(answer.question_id)

    @staticmethod
    def _last(conversation: Conversation, role: Literal["user", "assistant"]) -> Said | None:
        live = (branch for branch in conversation.branches() if branch.live)
        return next((branch.last(role) for branch in live), None)

    async def _branches(self, which: str) -> None:
        conversation, view = self._need()
        found = conversation.branches()
        if len(found) < 2:
            self._screen.aside("there is one branch: /edit and /regenerate begin others")
        elif which.isdecimal() and 0 < int(which) <= len(found):
            view.branch(found[int(which) - 1])
        else:
            for line in branch_lines(found):
                self._screen.aside(line)
            there = f"there is no {which}; " if which else ""
            self._screen.aside(f"{there}/branches N shows one of them")

    async def _stop(self) -> None:
        conversation, view = self._need()
        asked = next(iter(view.pending), None)
        target = conversation.answering or asked
        if target is None:
            self._screen.aside("nothing to stop")
            return
        await conversation.stop(target)

    async def _note(self, text: str) -> None:
        conversation, view = self._need()
        if not text:
            self._screen.aside("/note TEXT")
            return
        answers = (
            body.id if isinstance(body, AssistantMessage) else body.previous_id
            for body in (envelope.body for envelope in reversed(conversation.log))
            if isinstance(body, AssistantMessage | AssistantSentence)
        )
        view.sent.add(await conversation.note(text, message_id=next(answers, None)))
        noted = await confirmed(conversation)
        self._screen.aside("noted" if noted else "kept; it goes out when the server is there")

    async def _history(self) -> None:
        self._need()[1].history()

    def _need(self) -> tuple[Conversation, View]:
        if self._conversation is None or self._view is None:
            raise AliciaError("This conversation has ended: /new begins another one, /open goes on with one.")
        return self._conversation, self._view

    async def _say_goodbye(self) -> None:
        conversation = self._conversation
        self._screen.finish()
        if conversation is None:
            return
        if conversation.state is State.ONLINE:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await conversation.flush()
        if waiting := len(conversation.outbox):
            self._screen.aside(f"{waiting} not sent yet: they are kept, and go out with your next visit")
        if conversation.id and conversation.log:
            self._screen.aside(f"to go on: alicia chat {conversation.id}")


async def confirmed(conversation: Conversation) -> bool:
    """Wait until all that was sent is confirmed, however slowly; false if the server is away."""
    while conversation.outbox and conversation.state is not State.OFFLINE:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await conversation.flush()
    return not conversation.outbox


class Background:
    """An event loop in a thread of its own: the main thread waits for a line and can be interrupted."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="conversation", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it there and wait for it; an interruption here cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

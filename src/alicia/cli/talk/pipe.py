"""A talk without a terminal: a message per line of the input, answers or events on the output."""

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

from alicia.cli.talk.lines import as_json
from alicia.client import AliciaError, Answer, Conversation, Event
from alicia.protocol.messages import AssistantMessage, AssistantSentence, ErrorMessage

PATIENCE: Final = 20.0


async def pipe(connecting: AbstractAsyncContextManager[Conversation], *, as_events: bool) -> int:
    """Ask each line of the input in turn; the exit code says whether every answer came whole."""
    failures = 0
    async with connecting as conversation:
        async for line in _lines():
            answer = conversation.ask(line)
            if not await _reached(conversation):
                failures += 1
                break
            try:
                await _follow(answer, _print_json if as_events else _print_text)
            except AliciaError as error:
                _complain(str(error))
            failures += answer.status != "completed"
    return 1 if failures else 0


async def _lines() -> AsyncGenerator[str, None]:
    """The input's lines that say something."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended first
            line = "\n"
            while line:
                line = sys.stdin.readline()
                loop.call_soon_threadsafe(arrived.put_nowait, line)

    # A daemon, because nothing can wake a thread that waits for input.
    threading.Thread(target=read, name="input", daemon=True).start()
    while line := await arrived.get():
        if line.strip():
            yield line.rstrip("\n")


async def _reached(conversation: Conversation) -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            await conversation.online()
    except TimeoutError:
        waiting = len(conversation.outbox)
        _complain(f"Nobody answers. What you wrote ({waiting}) is kept, and the next `alicia chat` sends it.")
        return False
    return True


async def _follow(answer: Answer, show: Callable[[Event], None]) -> None:
    async for event in answer:
        show(event)
        if isinstance(event, ErrorMessage):
            _complain(event.message)


def _print_json(event: Event) -> None:
    print(as_json(event), flush=True)


def _print_text(event: Event) -> None:
    match event:
        case AssistantSentence():
            print(event.text, end="\n" if event.is_final else "", flush=True)
        case AssistantMessage():
            print(event.content, flush=True)
        case _:
            pass


def _complain(sentence: str) -> None:
    print(f"alicia: {sentence}", file=sys.stderr, flush=True)

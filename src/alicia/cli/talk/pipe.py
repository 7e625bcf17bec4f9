"""A talk without a terminal: a message per line of the input, answers or events on the output."""

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import Final

from alicia.cli.talk.lines import as_json
from alicia.client import AliciaError, Answer, Conversation
from alicia.protocol.messages import AssistantMessage, AssistantSentence, ErrorMessage

PATIENCE: Final = 20.0


async def pipe(connecting: AbstractAsyncContextManager[Conversation], *, as_events: bool) -> int:
    """Ask each line of the input in turn; the exit code says whether every answer came whole."""
    failures = 0
    printer: asyncio.Task[None] | None = None
    async with connecting as conversation:
        if as_events:
            printer = asyncio.create_task(_print_events(conversation))
        async for line in _lines():
            answer = conversation.ask(line)
            if not await _reached(conversation):
                failures += 1
                break
            try:
                await _follow(answer, silent=as_events)
            except AliciaError as error:
                _complain(str(error))
            failures += answer.status != "completed"
    if printer is not None:
        await printer
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
        await asyncio.wait_for(conversation.online(), PATIENCE)
    except TimeoutError:
        waiting = len(conversation.outbox)
        _complain(f"Nobody answers. What you wrote ({waiting}) is kept, and the next `alicia chat` sends it.")
        return False
    return True


async def _follow(answer: Answer, *, silent: bool) -> None:
    async for event in answer:
        match event:
            case ErrorMessage():
                _complain(event.message)
            case AssistantSentence() if not silent:
                print(event.text, end="\n" if event.is_final else "", flush=True)
            case AssistantMessage() if not silent:
                print(event.content, flush=True)
            case _:
                pass


async def _print_events(conversation: Conversation) -> None:
    async for event in conversation.events():
        print(as_json(event), flush=True)


def _complain(sentence: str) -> None:
    print(f"alicia: {sentence}", file=sys.stderr, flush=True)

"""What is learned from dialogues written by hand: precision and recall, with a scripted and the real model.

    .venv/bin/python bench/memory_learning.py [--scripted | --real] [--url URL --model NAME]
                                              [--keep FILE --minutes N]

The scripted model answers right and wrong things alike, so that run tries the mechanics; the other asks the
local language model, or the one behind URL. That takes long: with FILE, what came of each dialogue is kept
there, a run ends after N minutes, and the next one goes on. Tables go to bench/results/memory_learning.md.
"""

import argparse
import asyncio
import importlib
import logging
import os
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from alicia import ids
from alicia.config import ModelServer
from alicia.errors import ModelUnavailable
from alicia.ids import ConversationId, MessageId
from alicia.ledger.entries import Entry
from alicia.ledger.ledger import Ledger
from alicia.llm.chat import ChatModel, Patience
from alicia.llm.messages import Message
from alicia.local import ports
from alicia.local.embedder import LocalEmbedder
from alicia.local.postgres import Postgres
from alicia.local.weights import QWEN
from alicia.memory.extraction import Completer
from alicia.memory.learning import Lesson, Turn
from alicia.memory.memory import Memory
from alicia.protocol.messages import UserMessage
from alicia.protocol.session import AgentSession
from alicia.storage.memories import NewMemory
from alicia.storage.migrate import migrate
from alicia.storage.pool import Pool, make_pool
from learning_dialogues import DIALOGUES, Becomes, Dialogue
from machine import keep

RESULTS = Path(__file__).parent / "results" / "memory_learning.md"


class Scripted:
    """Answers with what the dialogue says that a model might: each fact at the statement that it quotes."""

    def __init__(self) -> None:
        self.dialogue = DIALOGUES[0]

    async def complete(
        self, messages: Sequence[Message], *, schema: dict[str, Any], max_tokens: int | None = None
    ) -> Any:
        asked = messages[-1].content
        if "relation" in schema["properties"]:
            told = next(one for one in self.dialogue.told if asked.endswith(one.content))
            return {"relation": told.relation, "known": told.known}
        lines = asked.rpartition("Statements:\n")[2].splitlines()
        facts = {line: list[str]() for line in lines}
        for told in self.dialogue.told:
            facts[next((line for line in lines if told.quote in line), lines[0])].append(told.content)
        return {"statements": [{"kind": "about the user", "facts": facts[line]} for line in lines]}


class Held(Struct, frozen=True):
    """What came of a dialogue: what was learned, how long it took, whether the model answered."""

    found: list[tuple[str, Becomes]]
    seconds: float
    answered: bool = True


class Unfinished(Exception):
    """The time is up; what was done is kept."""


class Keeping:
    """What came of the real model's dialogues so far, in a file if there is one."""

    def __init__(self, file: Path | None, minutes: float) -> None:
        self._file = file
        self._until = time.monotonic() + 60 * minutes
        lines = file.read_bytes().splitlines() if file and file.exists() else []
        self.held = [msgspec.json.decode(line, type=Held) for line in lines]

    def add(self, held: Held) -> None:
        self.held.append(held)
        if self._file:
            with self._file.open("ab") as file:
                file.write(msgspec.json.encode(held) + b"\n")

    def check(self) -> None:
        if time.monotonic() > self._until:
            raise Unfinished(f"{len(self.held)} of {len(DIALOGUES)} dialogues are done: run this again.")


def outcomes(lesson: Lesson) -> list[tuple[str, Becomes]]:
    changes: list[tuple[str, Becomes]] = [(change.memory.content, change.reason) for change in lesson.changes]
    return changes + [(question.said, "asked") for question in lesson.contradictions]


async def hold(pool: Pool, memory: Memory, dialogue: Dialogue) -> Lesson:
    """Let a user of their own say it, and learn."""
    user = f"user-{secrets.token_hex(6)}"
    await memory.add(user, [NewMemory(content=content) for content in dialogue.known])
    await memory.add(user, [NewMemory(content=content, pinned=True) for content in dialogue.pinned])
    ledger, conversation_id, message_id = Ledger(pool), ids.new(ConversationId), ids.new(MessageId)
    await ledger.create(conversation_id, user)
    session = AgentSession(conversation_id)
    await ledger.append(
        session, UserMessage(conversation_id=conversation_id, id=message_id, content=dialogue.said)
    )

    async def store(entries: Sequence[Entry]) -> None:
        await ledger.append(session, *entries)

    turn = Turn(
        user_id=user,
        conversation_id=conversation_id,
        message_id=message_id,
        text=dialogue.said,
        before=[Message("assistant", dialogue.before)] if dialogue.before else [],
    )
    return await memory.learn(turn, store)


async def listen(pool: Pool, memory: Memory, dialogue: Dialogue) -> Held:
    began = time.perf_counter()
    try:
        found, answered = outcomes(await hold(pool, memory, dialogue)), True
    except ModelUnavailable:
        found, answered = [], False
    return Held(found, time.perf_counter() - began, answered)


async def run(
    pool: Pool, embedder: LocalEmbedder, model: Completer, name: str, keeping: Keeping | None = None
) -> str:
    memory = Memory(pool, embedder, model)
    keeping = keeping or Keeping(None, 60)
    for dialogue in DIALOGUES[len(keeping.held) :]:
        keeping.check()
        if isinstance(model, Scripted):
            model.dialogue = dialogue
        keeping.add(await listen(pool, memory, dialogue))
    return table(name, keeping.held)


def table(name: str, held: Sequence[Held]) -> str:
    expected, learned, right, decided = (Counter[str]() for _ in range(4))
    for dialogue, one in zip(DIALOGUES, held, strict=True):
        found, kind = list(one.found), dialogue.kind
        learned[kind] += len(found)
        expected[kind] += len(dialogue.expected)
        for wanted in dialogue.expected:
            match = next(
                (one for one in found if all(word.lower() in one[0].lower() for word in wanted.words)), None
            )
            if match:
                found.remove(match)
                right[kind] += 1
                decided[kind] += match[1] == wanted.becomes
        for content, becomes in found:
            print(f"{name}: not asked for ({becomes}): {content!r} from {dialogue.said!r}")
    lines = [
        "| dialogues | to learn | learned | right | precision | recall | decided rightly |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in [*dict.fromkeys(dialogue.kind for dialogue in DIALOGUES), "all"]:
        want, got, good, fine = (
            sum(counter.values()) if kind == "all" else counter[kind]
            for counter in (expected, learned, right, decided)
        )
        shares = [
            f"{100 * part / whole:.0f}%" if whole else "–"
            for part, whole in ((good, got), (good, want), (fine, good))
        ]
        lines.append(f"| {kind} | {want} | {got} | {good} | {' | '.join(shares)} |")
    failed = sum(not one.answered for one in held)
    note = f"{sum(one.seconds for one in held) / len(held):.1f} s a dialogue"
    note += f", {failed} without an answer" if failed else ""
    return f"## {name}\n\n{len(DIALOGUES)} dialogues, {note}\n\n" + "\n".join(lines) + "\n"


def write(parts: Sequence[str]) -> None:
    """Put new tables in the place of old ones; a run of one model leaves the other's."""
    old = RESULTS.read_text("utf-8").split("\n## ")[1:] if RESULTS.exists() else []
    tables = {one.split(maxsplit=1)[0]: f"## {one.strip()}\n" for one in old}
    tables |= {one.split(maxsplit=2)[1]: one for one in parts}
    keep(RESULTS, "# Memory: learning\n\n`bench/memory_learning.py`\n\n" + "\n".join(tables.values()))


async def with_database(work: Callable[[Pool, LocalEmbedder], Awaitable[str]]) -> str:
    with TemporaryDirectory() as folder:
        server = Postgres(Path(folder), password=secrets.token_hex(8), settings={"fsync": "off"})
        await server.initialise()
        await server.start()
        try:
            await server.ready()
            await migrate(server.url("postgres"))
            async with LocalEmbedder() as embedder, make_pool(server.url("postgres")) as pool:
                return await work(pool, embedder)
        finally:
            await server.stop()


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scripted", action="store_true", help="only the scripted model")
    parser.add_argument("--real", action="store_true", help="only the real model")
    parser.add_argument("--url", help="an OpenAI-compatible server, instead of the local model")
    parser.add_argument("--model", default="local")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep what the real model did here")
    parser.add_argument("--minutes", type=float, default=60, help="end after so many, to go on later")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    parts: list[str] = []
    if not arguments.real:
        parts.append(
            await with_database(lambda pool, embedder: run(pool, embedder, Scripted(), "Scripted model"))
        )
    if not arguments.scripted:
        try:
            keeping = Keeping(arguments.keep, arguments.minutes)
            parts.append(await real(arguments.url, arguments.model, keeping))
        except Unfinished as error:
            print(error)
    print("\n" + "\n".join(parts))
    write(parts)


async def real(url: str | None, name: str, keeping: Keeping) -> str:
    server: object = None
    if url is None:
        if not QWEN.path.exists():
            return "## Real model\n\nNot measured: run `python -m alicia.local.weights large` first.\n"
        url = f"http://127.0.0.1:{ports.choose()}/v1"
        os.environ.pop("ALICIA_LLM_API_KEY", None)
        llm = importlib.import_module("alicia.local.llm")
        server = await asyncio.to_thread(llm.serve, ModelServer(url, name), str(QWEN.path))
    async with ChatModel(url, name, patience=Patience(first_token=300, idle=120), temperature=0) as model:
        title = f"Real model ({QWEN.path.stem if server else name})"
        text = await with_database(lambda pool, embedder: run(pool, embedder, model, title, keeping))
    del server
    return text


if __name__ == "__main__":
    asyncio.run(main())

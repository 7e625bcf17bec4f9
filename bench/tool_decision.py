"""How often a model that cannot call tools chooses the right one, or rightly none.

    .venv/bin/python bench/tool_decision.py

Thirty questions, of which fifteen need `calculator` or `current_time`, go through the decision step with the
local language model. A decision is right when the tool that is needed is called with arguments that lead to
the right result, or when no tool is needed and none is called. The table is printed and written to
bench/results/tool_decision.md. With ALICIA_LLM_URL set, that model is asked instead.
"""

import asyncio
import contextlib
import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from msgspec import Struct

from alicia.config import Config, ModelServer
from alicia.llm.chat import ChatModel, Patience
from alicia.llm.messages import ToolCall
from alicia.local import notify, ports
from alicia.local.weights import QWEN, assemble
from alicia.tools.box import Toolbox
from alicia.tools.builtin.calculator import calculator
from alicia.tools.builtin.clock import current_time
from alicia.tools.decision.decide import Decider
from alicia.tools.decision.gate import candidates
from alicia.tools.decision.native import ToolCalling
from alicia.tools.definition import Caller
from machine import keep

RESULTS = Path(__file__).parent / "results" / "tool_decision.md"
WANTED = 0.8
HOME = "Europe/Vienna"


class Question(Struct, frozen=True):
    """`expected` is what the calculator must give, or the zone whose time must be told if not the user's."""

    text: str
    tool: str | None = None
    expected: str | None = None


QUESTIONS = (
    Question("What is 3,847 multiplied by 29?", "calculator", "111563"),
    Question("How much is 12.5% of 640?", "calculator", "80"),
    Question("I earn 2,300 euros a month. How much is that in a year?", "calculator", "27600"),
    Question("Please work out 98765 - 43210.", "calculator", "55555"),
    Question("Eight friends share a bill of 334 euros. What does each of them pay?", "calculator", "41.75"),
    Question("What's the square root of 5,329?", "calculator", "73"),
    Question("What is 7 to the power of 5?", "calculator", "16807"),
    Question("A train goes 85 kilometres an hour. How far does it get in 6 hours?", "calculator", "510"),
    Question("What time is it?", "current_time"),
    Question("What's the date today?", "current_time"),
    Question("What time is it in Tokyo at the moment?", "current_time", "Asia/Tokyo"),
    Question("Which day of the week is it today?", "current_time"),
    Question("Can you tell me the time in New York right now?", "current_time", "America/New_York"),
    Question("What year is it now?", "current_time"),
    Question("Is it still morning in Berlin?", "current_time", "Europe/Berlin"),
    Question("What is the capital of Portugal?"),
    Question("Tell me a joke."),
    Question("How many strings does a violin have?"),
    Question("When did the first world war begin?"),
    Question("What is the difference between weather and climate?"),
    Question("My daughter turned seven last week."),
    Question("Can you recommend a good book for a rainy day?"),
    Question("How do I make pancakes for four people?"),
    Question("Why do we have leap years?"),
    Question("Who was the third president of the United States?"),
    Question("What does the phrase 'time flies' mean?"),
    Question("I slept badly last night, any advice?"),
    Question("Thanks, that's all for today!"),
    Question("How old is the universe?"),
    Question("Write a haiku about autumn."),
)


@contextlib.contextmanager
def model_server() -> Generator[ModelServer]:
    """The one that the environment names, or the local one, started here."""
    named = Config.from_environ().llm
    if named is not None:
        yield named
        return
    weights = assemble(QWEN)
    server = ModelServer(f"http://127.0.0.1:{ports.choose()}/v1", "local", secrets.token_hex(8))
    reading, writing = os.pipe()
    environment = {
        **os.environ,
        "ALICIA_LLM_URL": server.url,
        "ALICIA_LLM_MODEL": server.model or "",
        "ALICIA_LLM_API_KEY": server.api_key or "",
    }
    command = [sys.executable, "-m", "alicia.local.llm", str(weights), str(writing)]
    with subprocess.Popen(command, env=environment, pass_fds=[writing], stderr=subprocess.DEVNULL) as process:
        os.close(writing)
        try:
            with os.fdopen(reading) as said:
                assert notify.WARM in said.readline()
            yield server
        finally:
            process.terminate()


async def main() -> None:
    with model_server() as server:
        patience = Patience(first_token=600, idle=300)
        model = ChatModel(server.url, server.model or "", server.api_key, temperature=0, patience=patience)
        async with model, Toolbox([calculator, current_time()]).open() as box:
            native = await ToolCalling(model).native()
            lines, right = await measure(box, Decider(model))
    lines.insert(0, f"The model calls tools by itself: {'yes' if native else 'no'}.\n")
    report = "\n".join(["# Decisions about tools\n\n`bench/tool_decision.py`\n", *lines, ""])
    print(report)
    keep(RESULTS, report)
    sys.exit(0 if right >= WANTED else 1)


async def measure(box: Toolbox, decider: Decider) -> tuple[list[str], float]:
    tools = box.available("bench")
    lines = ["| question | needs | chose | right | seconds |", "|---|---|---|---|---|"]
    right = unasked = 0
    seconds: list[float] = []
    for question in QUESTIONS:
        asked = bool(candidates(tools, box.hints, question.text))
        began = time.perf_counter()
        call = await decider.decide(question.text, [], tools, box.hints)
        took = time.perf_counter() - began
        good = await is_right(box, question, call)
        right += good
        if asked:
            seconds.append(took)
        else:
            unasked += 1
        chose = f"`{call.name}` {call.arguments}" if call else "no tool"
        lines.append(
            f"| {question.text} | {question.tool or 'no tool'} | {chose} | {'yes' if good else '**no**'} | "
            f"{f'{took:.1f}' if asked else '–'} |"
        )
    share = right / len(QUESTIONS)
    lines += [
        "",
        f"{right} of {len(QUESTIONS)} right ({share:.0%}; at least {WANTED:.0%} are wanted).",
        f"{unasked} messages went on without a question to the model; the others took "
        f"{statistics.median(seconds):.1f} s (median).",
    ]
    return lines, share


async def is_right(box: Toolbox, question: Question, call: ToolCall | None) -> bool:
    if call is None or question.tool is None:
        return (call and call.name) == question.tool
    outcome = await box.run(Caller(user_id="bench", time_zone=HOME), call)
    if call.name != question.tool or not outcome.success:
        return False
    result: dict[str, Any] = outcome.result
    found = result["result" if call.name == "calculator" else "timeZone"]
    return found == (question.expected or HOME)


if __name__ == "__main__":
    asyncio.run(main())

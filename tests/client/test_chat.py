"""`alicia chat`, as a person and as a script use it."""

import codecs
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import alicia
from alicia.cli.talk import terminal
from support.scripted import Cut, Script, ToolCall
from support.stack import Stack
from support.up import environment

from .conftest import Connect

PATIENCE = 60.0
_CONTROL = re.compile(r"…\x1b\[0m\r\x1b\[K|\x1b\[[0-9;?]*[A-Za-z]|\r")
"""What is not to be read, and the mark that is taken back when words come."""


class Person:
    """Somebody at a terminal: types, and waits for what appears after what was seen last."""

    def __init__(self, arguments: list[str], env: Mapping[str, str]) -> None:
        self.seen = self._shown = ""
        self._read = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        pid, self._terminal = pty.fork()
        if pid == 0:
            os.execvpe(sys.executable, [sys.executable, "-m", "alicia.cli.main", *arguments], env)
        self._pid = pid

    def types(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def is_answered(self) -> None:
        """Have a first word answered: who asks before an agent has come may get the prompt back meanwhile."""
        self.sees("/help\n")
        self.types("Hello!\r")
        self.sees("You said: ")
        self.sees("Hello!\n")

    def interrupts_until(self, text: str, *, after: str = "") -> None:
        """Press Ctrl-C at the prompt, and again if nothing happens, as one would.

        A signal that comes in the instant in which `input` begins to wait is noticed at the next key only.
        """
        self.sees("› ")
        self.types(after)
        self.sees(after)
        while True:
            self.types("\x03")
            try:
                self.sees(text, within=5)
            except AssertionError:
                continue
            return

    def sees(self, text: str, within: float = PATIENCE) -> str:
        """Wait for a text, and return all from the last one seen to this one."""
        deadline = time.monotonic() + within
        while (found := self.seen.find(text, self._read)) < 0:
            ready = select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))[0]
            assert ready, f"{text!r} never appeared in:\n{self.seen}"
            try:
                data = os.read(self._terminal, 4096)
            except OSError:
                data = b""
            assert data, f"the program ended without {text!r}:\n{self.seen}"
            self._shown += self._decoder.decode(data)
            self.seen = _CONTROL.sub("", self._shown)
        before, self._read = self._read, found + len(text)
        return self.seen[before : self._read]

    def waits_for_the_end(self) -> int:
        """The exit code."""
        while True:
            try:
                if not os.read(self._terminal, 4096):
                    break
            except OSError:
                break
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def leaves(self) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._terminal)


@pytest.fixture
def arguments(stack: Stack, user: str) -> list[str]:
    return ["chat", "--url", stack.url, "--token", stack.token(user)]


@pytest.fixture
def person(arguments: list[str], tmp_path: Path) -> Iterator[Person]:
    someone = Person(arguments, {**environment(tmp_path, {}), "TERM": "xterm"})
    yield someone
    someone.leaves()


def pipe(
    arguments: list[str], text: str, home: Path, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "alicia.cli.main", *arguments],
        env=environment(home, settings or {}),
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_lines_through_a_pipe_are_answered_one_after_the_other(
    stack: Stack, arguments: list[str], tmp_path: Path
) -> None:
    stack.model.say("It is green. It grows in Assam.", when="What is tea?")
    stack.model.say("So it is.", when="Is it?")
    done = pipe(arguments, "What is tea?\n\nIs it?\n", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "It is green. It grows in Assam.\nSo it is.\n",
        "",
    )


def test_json_has_a_line_for_each_event_and_names_the_conversation(
    stack: Stack, arguments: list[str], tmp_path: Path
) -> None:
    stack.model.say("It is green.", when="tea?")
    done = pipe([*arguments, "--json"], "What is tea?\n", tmp_path)
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert [event["type"] for event in events] == ["StartAnswer", "AssistantSentence"]
    assert (events[-1]["text"], events[-1]["status"]) == ("It is green.", "completed")
    again = pipe([*arguments, str(events[0]["conversationId"])], "And now?\n", tmp_path)
    assert again.stdout.endswith("And now?\n")


def test_a_script_learns_why_an_answer_failed(stack: Stack, arguments: list[str], tmp_path: Path) -> None:
    stack.model.chat(Script("This much. And then ", Cut()), when="Break off")
    done = pipe(arguments, "Break off\n", tmp_path)
    assert (done.returncode, done.stdout) == (1, "This much.\n")
    assert done.stderr.startswith("alicia: The connection to the model at ")


def test_the_environment_names_the_server_and_the_token(stack: Stack, user: str, tmp_path: Path) -> None:
    stack.model.say("It is green.", when="tea?")
    named = {"ALICIA_URL": stack.url, "ALICIA_TOKEN": stack.token(user)}
    done = pipe(["chat"], "What is tea?\n", tmp_path, named)
    assert (done.returncode, done.stdout, done.stderr) == (0, "It is green.\n", "")


def test_a_script_learns_that_there_is_no_such_conversation(
    stack: Stack, arguments: list[str], tmp_path: Path
) -> None:
    done = pipe([*arguments, "ac_nonsense"], "Hello\n", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("alicia: expected ac_")


def test_a_talk_in_a_terminal(stack: Stack, person: Person) -> None:
    stack.model.say("It is green.", when="What is tea?")
    person.sees("/help\n")
    person.types("What is tea?\r")
    person.sees("It is green.\n")
    person.types("/note Quite right.\r")
    person.sees("noted\n")
    person.types("/history\r")
    person.sees("› What is tea?\nIt is green.\n")
    person.sees("note    Quite right.\n")
    person.types("/quit\r")
    person.sees("to go on: alicia chat ac_")
    assert person.waits_for_the_end() == 0


async def test_what_a_server_that_is_there_confirms_late_is_confirmed(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "LOOK_SECONDS", 0.0)
    async with connect() as conversation:
        await conversation.online()
        await conversation.note("Quite right.")
        assert await terminal.confirmed(conversation)


async def test_nobody_waits_for_a_server_that_is_away(tmp_path: Path) -> None:
    async with alicia.connect("http://127.0.0.1:9", store=tmp_path) as conversation:
        await conversation.note("Quite right.")
        assert not await terminal.confirmed(conversation)


def test_control_c_stops_the_answer_and_not_the_program(stack: Stack, person: Person) -> None:
    stack.model.hold("This was said. This was not.", when="Talk!").release(4)
    person.is_answered()
    person.types("Talk!\r")
    person.sees("This was said.")
    person.types("\x03")
    person.sees("stopped\n")
    person.types("Still there?\r")
    person.sees("Still there?\n")
    person.sees("Still there?\n\n")
    person.interrupts_until("Ctrl-C again", after="half a line")
    person.interrupts_until("to go on")
    assert person.waits_for_the_end() == 0


def test_a_mark_stands_where_words_will_come(stack: Stack, person: Person) -> None:
    held = stack.model.hold("It is green.", when="tea?")
    person.is_answered()
    person.types("What is tea?\r")
    person.sees("What is tea?\n…")
    held.release(4)
    # One character less than before stands on the screen.
    person.sees("t is green.\n")
    assert "…" not in person.seen


def test_what_is_typed_during_an_answer_counts(stack: Stack, person: Person) -> None:
    held = stack.model.hold("This was said. This was not.", when="Talk!")
    held.release(4)
    person.is_answered()
    person.types("Talk!\r")
    person.sees("This was said.")
    person.types("Next, please.\r/stop\rhalf")
    person.sees("› Next, please.\n")
    person.sees("stopped\n")
    person.sees("You said: Next, please.\n")
    person.sees("› half")
    person.types(" and half\r")
    person.sees("You said: half and half\n")


def test_answers_and_messages_can_be_replaced_and_read_again(stack: Stack, person: Person) -> None:
    for text in ("It is green.", "It is black."):
        stack.model.say(text, when="What is tea?")
    stack.model.say("It is brown.", when="What is coffee?")
    person.sees("/help\n")
    person.types("/branches\r")
    person.sees("there is one branch")
    person.types("What is tea?\r")
    person.sees("It is green.\n")
    person.types("/regenerate\r")
    person.sees("It is black.\n")
    person.types("/edit What is coffee?\r")
    person.sees("It is brown.\n")
    person.types("/branches\r")
    person.sees("1  What is tea? → It is green.\n")
    person.sees("2  What is tea? → It is black.\n")
    person.sees("3  What is coffee? → It is brown.  ← now\n")
    person.types("/branches 4\r")
    person.sees("there is no 4; /branches N shows one of them")
    person.types("/branches 1\r")
    person.sees("› What is tea?\nIt is green.\n")
    person.types("/history\r")
    person.sees("› What is coffee?\nIt is brown.\n")


def test_a_tool_is_one_quiet_line(stack: Stack, person: Person) -> None:
    stack.model.chat(Script(ToolCall("calculator", {"expression": "6 * 7"})), when="product")
    stack.model.say("It is 42.", when="product")
    person.sees("/help\n")
    person.types("What is the product?\r")
    line = person.sees("It is 42.\n")
    assert '  · tool    calculator {"expression": "6 * 7"} → ' in line
    assert "42" in line.partition("→")[2].partition("\n")[0]


def test_a_message_without_a_server_waits_for_the_next_talk(stack: Stack, user: str, tmp_path: Path) -> None:
    nowhere = ["chat", "--url", "http://127.0.0.1:9"]
    person = Person(nowhere, {**environment(tmp_path, {}), "TERM": "xterm"})
    person.sees("offline: http://127.0.0.1:9 does not answer")
    person.types("Is anybody there?\r")
    person.sees("waiting to go out (1)\n")
    person.types("/quit\r")
    person.sees("1 not sent yet")
    assert person.waits_for_the_end() == 0
    person.leaves()
    person = Person(nowhere, {**environment(tmp_path, {}), "TERM": "xterm"})
    person.types("/quit\r")
    person.sees("1 not sent yet")
    person.leaves()

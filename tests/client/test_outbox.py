"""What is sent while the server is away, or by a program that is killed."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import alicia
from alicia import ids
from alicia.client import Event, State, StateChange, store
from alicia.protocol.envelope import Envelope, encode
from alicia.protocol.messages import UserMessage
from support.gateway import Gateway
from support.stack import Stack

from .conftest import Connect, Journal

# It asks, says so, and waits to be killed.
_ASK = """
import asyncio, os, sys
import alicia

async def main():
    server, token, store, conversation_id, *texts = sys.argv[1:]
    async with alicia.connect(server, conversation_id or None, token=token, store=store) as conversation:
        for text in texts:
            conversation.ask(text)
        os.write(1, b"asked")
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def ask_and_be_killed(*arguments: str) -> None:
    """Run a program that asks, and kill it as soon as `ask` has returned."""
    words = [sys.executable, "-c", _ASK, *arguments]
    process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert await process.stdout.read(5) == b"asked"
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()


async def test_a_new_conversation_can_be_begun_while_the_server_is_away(
    stack: Stack, connect: Connect, journal: Journal
) -> None:
    async with Gateway(stack.port) as gateway, connect(server=gateway.url, history=True) as conversation:
        assert (conversation.state, conversation.id) == (State.OFFLINE, None)
        answers = [conversation.ask(text) for text in ("one", "two")]
        await conversation.note("Nobody is there.")
        assert len(conversation.outbox) == 3
        await gateway.open()
        assert [(await answer)[-3:] for answer in answers] == ["one", "two"]
        await conversation.flush()
        assert (conversation.state, conversation.outbox) == (State.ONLINE, ())
        assert len(await journal(conversation)) > 3


async def test_a_passing_outage_is_a_change_of_state_and_no_error(stack: Stack, connect: Connect) -> None:
    states: list[State] = []
    async with Gateway(stack.port) as gateway, connect(server=gateway.url) as conversation:
        await gateway.open()
        await conversation.online()
        await gateway.close()
        await conversation.ask("The room is still there.")
        async for event in conversation.events():
            if isinstance(event, StateChange):
                states.append(event.state)
            if isinstance(event, UserMessage):
                break
    assert states == [State.OFFLINE, State.ONLINE]


async def test_a_killed_program_leaves_what_it_asked_to_the_next_one(
    stack: Stack, connect: Connect, user: str, tmp_path: Path, journal: Journal
) -> None:
    async with Gateway(stack.port) as gateway:
        token, store = stack.token(user), str(tmp_path / "store")
        await gateway.open()
        async with connect(server=gateway.url, history=True) as conversation:
            await conversation.ask("Hello")
        await gateway.close()
        await ask_and_be_killed(gateway.url, token, store, str(conversation.id), "Are you", "still there?")
        await gateway.open()
        async with connect(conversation.id, server=gateway.url, history=True) as again:
            assert [body.content for body in again.outbox if isinstance(body, UserMessage)] == [
                "Are you",
                "still there?",
            ]
            await again.flush()
            await again.ask("Good.")
            asked = [envelope.body for envelope in again.log if isinstance(envelope.body, UserMessage)]
            assert [body.content for body in asked] == ["Hello", "Are you", "still there?", "Good."]
            assert len(again.log) == len(await journal(again))


async def test_a_conversation_that_never_reached_the_server_is_opened_by_the_next_program(
    stack: Stack, connect: Connect, user: str, tmp_path: Path
) -> None:
    async with Gateway(stack.port) as gateway:
        await ask_and_be_killed(
            gateway.url, stack.token(user), str(tmp_path / "store"), "", "Is anybody there?"
        )
        await gateway.open()
        heard: list[Event] = []
        async with connect(server=gateway.url) as conversation:
            async for event in conversation.events():
                heard.append(event)
                if isinstance(event, UserMessage):
                    assert event.content == "Is anybody there?"
                    break


async def test_what_was_asked_before_an_agent_came_belongs_to_the_id_that_was_given(
    lone_stack: Stack, user: str, tmp_path: Path
) -> None:
    lone_stack.agent.end(9)
    access: dict[str, Any] = {"token": lone_stack.token(user), "store": tmp_path / "store"}
    async with alicia.connect(lone_stack.url, **access) as first:
        first.ask("one")
    async with alicia.connect(lone_stack.url, **access) as second:
        assert second.id == first.id
        second.ask("two")
    await asyncio.to_thread(lone_stack.start_agent)
    async with alicia.connect(lone_stack.url, first.id, **access, history=True) as third:
        await third.flush()
        await third.ask("three")
        asked = [envelope.body for envelope in third.log if isinstance(envelope.body, UserMessage)]
    assert [body.content for body in asked] == ["one", "two", "three"]


async def test_a_program_in_which_nothing_was_asked_leaves_no_conversation_to_the_next(
    connect: Connect,
) -> None:
    async with connect() as first:
        pass
    async with connect() as second:
        assert second.id != first.id


async def test_an_id_that_the_server_has_forgotten_keeps_nothing_from_being_sent(
    stack: Stack, connect: Connect, tmp_path: Path
) -> None:
    forgotten = ids.new(ids.ConversationId)
    body = UserMessage(conversation_id=forgotten, id=ids.new(ids.MessageId), content="Still here.")
    with closing(store.Store.open(tmp_path / "store", stack.url, None)) as left:
        left.save(store.State(device="phone", given=forgotten))
        left.append(encode(Envelope(stanza_id=1, conversation_id=forgotten, type=body.CODE, body=body)))
    async with connect() as conversation:
        assert conversation.id not in (None, forgotten)
        await conversation.flush()


async def test_a_program_that_is_killed_after_sending_does_not_send_twice(
    stack: Stack, connect: Connect, user: str, tmp_path: Path
) -> None:
    async with connect(history=True, store=tmp_path / "watcher") as watcher:
        await watcher.online()
        held = stack.model.hold("Yes.", when="Once only?")
        await ask_and_be_killed(
            stack.url, stack.token(user), str(tmp_path / "store"), str(watcher.id), "Once only?"
        )
        async with connect(watcher.id) as again:
            await again.flush()
        held.release_all()
        await watcher.ask("Well?")
        asked = [envelope.body for envelope in watcher.log if isinstance(envelope.body, UserMessage)]
        assert [body.content for body in asked] == ["Once only?", "Well?"]


async def test_two_programs_in_one_conversation_are_two_devices(connect: Connect, tmp_path: Path) -> None:
    async with connect(history=True) as first:
        await first.online()
        async with connect(first.id, history=True) as second:
            await second.ask("Hello")
            await first.caught_up()
            async for event in first.events():
                if isinstance(event, UserMessage):
                    break
        files = [path.name for path in (tmp_path / "store").glob("*/*.sqlite3")]
    assert sorted(files) == [f"{first.id}.2.sqlite3", f"{first.id}.sqlite3"]

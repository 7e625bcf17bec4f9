"""Losing the connection, packets, agents and one's own process, and losing no word by it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from livekit import api

import alicia
from alicia import ids
from alicia.client import Conversation, Event, Forbidden, NotFound, State, StateChange, driver
from alicia.client.link import Link
from alicia.local.livekit import LiveKit
from alicia.protocol.envelope import Envelope, encode
from alicia.protocol.messages import AssistantSentence, Configuration, StartAnswer, UserNote
from alicia.storage.pool import make_pool
from support.rooms import participant
from support.servers import LiveKitServer
from support.stack import Stack
from support.tables import rows

from .conftest import Connect, Journal, journal_of


def log_of(conversation: Conversation) -> list[bytes]:
    return [encode(envelope) for envelope in conversation.log]


async def until(conversation: Conversation, state: State) -> None:
    """Wait until the connection has been lost or made."""
    async for event in conversation.events():
        if isinstance(event, StateChange) and event.state is state:
            return


async def throw_out(
    stack: Stack,
    conversation: Conversation,
    kind: api.ParticipantInfo.Kind.ValueType = api.ParticipantInfo.Kind.STANDARD,
) -> None:
    """Have LiveKit drop every user of the room, or every agent."""
    server = stack.livekit
    async with api.LiveKitAPI(server.url, server.api_key, server.api_secret) as livekit:
        room = str(conversation.id)
        present = await livekit.room.list_participants(api.ListParticipantsRequest(room=room))
        for each in present.participants:
            if each.kind == kind:
                await livekit.room.remove_participant(
                    api.RoomParticipantIdentity(room=room, identity=each.identity)
                )


def watched(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, tell: Callable[[], None]) -> None:
    """Have it told whenever a method is done."""
    method = getattr(owner, name)

    async def told(*args: Any) -> None:
        await method(*args)
        tell()

    monkeypatch.setattr(owner, name, told)


async def test_two_devices_and_the_database_have_the_same_log(
    stack: Stack, connect: Connect, journal: Journal
) -> None:
    async with connect(history=True) as first:
        await first.ask("Hello")
        async with connect(first.id, history=True) as second:
            await second.caught_up()
            assert log_of(second) == log_of(first)
            answers = first.ask("From the first"), second.ask("From the second")
            for answer in answers:
                await answer
            await first.note("All well.")
            await asyncio.gather(first.flush(), second.flush())
            stored = await journal(first)
            while len(first.log) < len(stored) or len(second.log) < len(stored):
                await anext(second.events())
            assert log_of(first) == log_of(second) == stored


async def test_a_device_that_comes_back_gets_what_it_missed_and_nothing_twice(connect: Connect) -> None:
    async with connect(history=True) as conversation:
        await conversation.online()
        async with connect(conversation.id, device="other") as other:
            await other.caught_up()
        missed = conversation.ask("Meanwhile")
        await missed
        heard: list[Event] = []
        async with connect(conversation.id, device="other") as other:
            async for event in other.events():
                # A slow agent is asked more than once, and answers each time.
                if not isinstance(event, StateChange | Configuration):
                    heard.append(event)
                if isinstance(event, AssistantSentence) and event.is_final:
                    break
        assert heard == [envelope.body for envelope in conversation.log]


async def test_a_client_that_is_thrown_out_in_mid_answer_misses_no_stanza(
    stack: Stack, connect: Connect, journal: Journal
) -> None:
    held = stack.model.hold("One is here. Two is here. Three is here.", when="Count!")
    async with connect(history=True) as conversation:
        answer = conversation.ask("Count!")
        held.release(4)
        async for event in answer:
            if isinstance(event, AssistantSentence):
                break
        follower = asyncio.create_task(until(conversation, State.CONNECTING))
        await throw_out(stack, conversation)
        await follower
        held.release_all()
        await conversation.online()
        await conversation.ask("And?")
        assert log_of(conversation) == await journal(conversation)


async def test_ask_follows_its_answer_through_a_loss(stack: Stack, connect: Connect) -> None:
    held = stack.model.hold("One is here. Two is here. Three is here.", when="Count!")
    async with connect() as conversation:
        said = ""
        async for event in conversation.ask("Count!"):
            if isinstance(event, StartAnswer):
                await throw_out(stack, conversation)
                held.release_all()
            if isinstance(event, AssistantSentence):
                said += event.text
    assert said == "One is here. Two is here. Three is here."


@pytest.mark.parametrize("lost", [0, 2, 5])
async def test_a_lost_packet_is_noticed_and_asked_for(
    stack: Stack, connect: Connect, journal: Journal, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    stack.model.say("One is here. Two is here. Three is here. Four is here.", every=0.01, when="Count!")
    deliver, arriving, missing = Link._data, count(), list[object]()  # pyright: ignore[reportPrivateUsage]
    asked = False

    def lose_one(link: Link, packet: "object") -> None:
        if asked and next(arriving) == lost:
            missing.append(packet)
        else:
            deliver(link, packet)  # pyright: ignore[reportArgumentType]

    # Before the room is joined, which is when the handler is taken.
    monkeypatch.setattr(Link, "_data", lose_one)
    async with connect(history=True) as conversation:
        await conversation.caught_up()
        asked = True
        answer = conversation.ask("Count!")
        assert await answer == "One is here. Two is here. Three is here. Four is here."
        assert missing
        assert log_of(conversation) == await journal(conversation)


async def test_only_the_agent_is_obeyed(stack: Stack, connect: Connect, user: str) -> None:
    async with connect(history=True) as conversation:
        await conversation.ask("Hello")
        assert conversation.id is not None
        last = conversation.log[-1]
        forged = Envelope(
            stanza_id=last.stanza_id - 1,
            previous_stanza_id=last.stanza_id,
            conversation_id=conversation.id,
            type=UserNote.CODE,
            body=UserNote(conversation_id=conversation.id, id=ids.new(ids.NoteId), content="forged"),
        )
        async with participant(stack.livekit, conversation.id, f"{user}:forger") as forger:
            await forger.send(encode(forged))
            await conversation.ask("Did you write that?")
        assert not any(isinstance(envelope.body, UserNote) for envelope in conversation.log)


async def test_what_was_not_handled_comes_again(connect: Connect) -> None:
    async def handle(conversation_id: str | None, handled: list[Event], crash_at: type[Event]) -> None:
        async with connect(conversation_id, device="other") as other:
            async for event in other.events():
                if isinstance(event, crash_at):
                    raise RuntimeError("a crash while this is being handled")
                handled.append(event)

    async with connect(history=True) as conversation:
        await conversation.online()
        async with connect(conversation.id, device="other") as other:
            await other.caught_up()
        await conversation.ask("Hello")
        handled: list[Event] = []
        for crash_at in (StartAnswer, AssistantSentence):
            with pytest.raises(RuntimeError, match="crash"):
                await handle(conversation.id, handled, crash_at)
        durable = [event for event in handled if not isinstance(event, StateChange | Configuration)]
        assert durable == [envelope.body for envelope in conversation.log[:2]]


async def test_unknown_conversations_and_callers_are_refused_at_once(connect: Connect) -> None:
    with pytest.raises(NotFound):
        async with connect(ids.new(ids.ConversationId)):
            pass
    with pytest.raises(Forbidden):
        async with connect(token="nonsense"):
            pass


async def test_another_persons_conversation_is_not_to_be_had(connect: Connect, stack: Stack) -> None:
    async with connect() as conversation:
        await conversation.online()
        with pytest.raises(NotFound):
            async with connect(conversation.id, token=stack.token("somebody-else")):
                pass


async def test_ask_goes_on_with_the_agent_that_follows_a_killed_one(
    lone_stack: Stack, user: str, tmp_path: Path
) -> None:
    held = lone_stack.model.hold("This was said before. This came after.")
    async with alicia.connect(
        lone_stack.url, token=lone_stack.token(user), store=tmp_path / "store", history=True
    ) as conversation:
        answer = conversation.ask("Go on.")
        said = ""
        held.release(5)
        async for event in answer:
            if isinstance(event, AssistantSentence):
                if not said:
                    lone_stack.model.say(" This came after.", when="cut off", always=True)
                    await asyncio.to_thread(lone_stack.replace_agent)
                said += event.text
        assert said.startswith("This was said before.")
        assert said.endswith("This came after.")
        assert (await conversation.ask("And now?")).endswith("And now?")
        assert log_of(conversation) == await journal_of(lone_stack.database_url)(conversation)


async def test_a_conversation_begun_without_an_agent_gets_one_when_there_is_one(
    lone_stack: Stack, user: str, tmp_path: Path
) -> None:
    lone_stack.agent.end(9)
    async with alicia.connect(
        lone_stack.url, token=lone_stack.token(user), store=tmp_path / "store"
    ) as conversation:
        answer = conversation.ask("Is anybody there?")
        await until(conversation, State.OFFLINE)
        await asyncio.to_thread(lone_stack.start_agent)
        assert (await answer).endswith("Is anybody there?")
        assert conversation.state is State.ONLINE


async def test_who_is_left_alone_waits_quietly_and_joins_again(
    lone_stack: Stack, user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As when LiveKit's nodes have lost their Redis: the next agent may be in another room of the same name.
    monkeypatch.setattr(driver, "AGENT_SECONDS", 1.5)
    joined, sent, looks = asyncio.Event(), asyncio.Event(), Counter[str]()
    watched(monkeypatch, Link, "join", joined.set)
    watched(monkeypatch, Link, "send", sent.set)
    watched(monkeypatch, driver.Driver, "_send_due", lambda: looks.update(["look"]))
    async with alicia.connect(
        lone_stack.url, token=lone_stack.token(user), store=tmp_path / "store"
    ) as conversation:
        await conversation.ask("Hello")
        lone_stack.agent.end(9)
        for each in (joined, sent, looks):
            each.clear()
        answer = conversation.ask("Is anybody there?")
        await sent.wait()
        await throw_out(lone_stack, conversation, api.ParticipantInfo.Kind.AGENT)
        await joined.wait()
        assert looks["look"] < 50
        await asyncio.to_thread(lone_stack.start_agent)
        assert (await answer).endswith("Is anybody there?")


async def test_an_id_that_was_kept_before_an_agent_came_opens_the_conversation(
    lone_stack: Stack, user: str, tmp_path: Path
) -> None:
    lone_stack.agent.end(9)
    access: dict[str, Any] = {"token": lone_stack.token(user), "store": tmp_path / "store"}
    async with alicia.connect(lone_stack.url, **access) as conversation:
        kept = conversation.id
        await until(conversation, State.OFFLINE)
    await asyncio.to_thread(lone_stack.start_agent)
    async with alicia.connect(lone_stack.url, kept, **access, preferences={"timeZone": "UTC"}) as again:
        assert (await again.ask("Is anybody there?")).endswith("Is anybody there?")
        assert again.id == kept
    async with make_pool(lone_stack.database_url, max_size=1) as pool:
        stored = await rows(pool, "SELECT id, user_id, preferences FROM alicia_conversations")
    assert stored == [(kept, user, {"timeZone": "UTC"})]


async def test_a_conversation_keeps_its_id_through_a_loss_before_it_is_opened(
    lone_stack: Stack, user: str, tmp_path: Path
) -> None:
    lone_stack.agent.end(9)
    async with alicia.connect(
        lone_stack.url, token=lone_stack.token(user), store=tmp_path / "store"
    ) as conversation:
        kept = conversation.id
        answer = conversation.ask("Is anybody there?")
        await until(conversation, State.OFFLINE)
        await throw_out(lone_stack, conversation)
        await asyncio.to_thread(lone_stack.start_agent)
        assert (await answer).endswith("Is anybody there?")
        assert conversation.id == kept


async def test_a_livekit_that_starts_again_is_joined_again(
    tmp_path: Path, fresh_database_url: str, user: str
) -> None:
    livekit = LiveKit(tmp_path / "livekit", api_key="test", api_secret="s" * 32)
    await livekit.start()
    await livekit.ready()
    server = LiveKitServer(livekit.url, livekit.api_key, livekit.api_secret)
    try:
        with Stack(tmp_path, fresh_database_url, server) as stack:
            async with alicia.connect(
                stack.url, token=stack.token(user), store=tmp_path / "store", history=True
            ) as conversation:
                await conversation.ask("Before")
                await livekit.process.kill()
                await livekit.start()
                await livekit.ready()
                assert (await conversation.ask("After")).endswith("After")
                assert log_of(conversation) == await journal_of(fresh_database_url)(conversation)
    finally:
        await livekit.stop()

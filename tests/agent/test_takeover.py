"""When a part dies in mid-answer, the answer still ends, nothing is twice and nothing is stuck."""

import asyncio
import signal
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from alicia.protocol.messages import AssistantSentence, StartAnswer
from alicia.storage.pool import Pool, make_pool
from support.device import Device, device
from support.embedded import Embedded
from support.gateway import Gateway
from support.scripted import ScriptedServer
from support.stack import Stack
from support.tables import journal, message, unfinished
from support.up import Up, eventually

pytestmark = [pytest.mark.timeout(180), pytest.mark.xdist_group("takeover")]

BEGUN = "This was said. This was too. Then the"


async def begun(each: Device, scripted: ScriptedServer) -> str:
    """Ask, and stand in mid-answer after two sentences; the answer's id."""
    held = scripted.hold(f"{BEGUN} rest.", when="Begin")
    await each.say("Begin")
    start = await each.hears(StartAnswer)
    held.release(len(BEGUN.split()))
    await each.until(lambda: len(each.all(AssistantSentence)) == 2)
    return start.id


def said(each: Device, answer_id: str) -> str:
    return "".join(body.text for body in each.all(AssistantSentence) if body.previous_id == answer_id)


async def check(each: Device, pool: Pool, answer_id: str) -> None:
    """Log, journal and rows tell the same, and nothing is left open."""
    assert each.log == await journal(pool, each.id)
    sequences = [body.sequence for body in each.all(AssistantSentence) if body.previous_id == answer_id]
    assert sequences == list(range(1, len(sequences) + 1))
    assert await unfinished(pool, each.id) == []
    assert (await message(pool, answer_id))[0] == said(each, answer_id)


async def test_another_agent_goes_on_where_a_killed_one_was(own_stack: Stack, user: str, pool: Pool) -> None:
    async with device(own_stack, user) as waiting:
        answer_id = await begun(waiting, own_stack.model)
        own_stack.model.say("rest was finished by another.", always=True)
        own_stack.replace_agent()
        closing = await waiting.closed(answer_id, 60)
        assert closing.status == "completed"
        assert said(waiting, answer_id).startswith("This was said. This was too.")
        assert said(waiting, answer_id).endswith("rest was finished by another.")
        await check(waiting, pool, answer_id)
        await waiting.ask("And you are here to stay?")


async def test_a_conversation_that_is_opened_while_the_database_is_away_waits_for_it(
    own_stack: Stack, user: str
) -> None:
    own_stack.model.say("Here I am.", always=True)
    async with device(own_stack, user) as before:
        await before.ask("Where are you?")
    own_stack.agent.end(signal.SIGKILL)
    address = urlsplit(own_stack.database_url)
    assert address.port
    async with Gateway(address.port) as gateway:
        await gateway.open()
        way = address._replace(netloc=address.netloc.replace(f":{address.port}", f":{gateway.port}"))
        agent = await asyncio.to_thread(own_stack.start_agent, way.geturl())
        await gateway.close()
        async with asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(ask_again(own_stack, user, before))
            await asyncio.to_thread(eventually, lambda: "database away" in agent.log.read_text(), "it waits")
            await gateway.open()
        assert asked.result() == "Here I am."


async def ask_again(stack: Stack, user: str, before: Device) -> str:
    """Come back, and ask; the answer."""
    async with device(stack, user, before.id, log=before.log) as back:
        return said(back, await back.ask("And now?"))


async def test_an_answer_that_nobody_waits_for_is_finished_all_the_same(
    own_stack: Stack, user: str, pool: Pool
) -> None:
    async with device(own_stack, user) as leaving:
        answer_id = await begun(leaving, own_stack.model)
    own_stack.model.say("Ended in an empty room.", always=True)
    own_stack.replace_agent()
    await finished(pool, answer_id)
    async with device(own_stack, user, leaving.id, log=leaving.log) as back:
        assert (await back.closed(answer_id)).status == "completed"
        await check(back, pool, answer_id)


async def test_a_draining_agent_ends_its_answer_and_takes_no_new_question(
    own_stack: Stack, user: str, pool: Pool
) -> None:
    async with device(own_stack, user) as waiting:
        held = own_stack.model.hold("To the end. Of this.", when="Begin")
        await waiting.say("Begin")
        start = await waiting.hears(StartAnswer)
        own_stack.agent.send(signal.SIGTERM)
        held.release_all()
        assert (await waiting.closed(start.id)).status == "completed"
        assert await asyncio.to_thread(own_stack.agent.wait) == 0
        await check(waiting, pool, start.id)


@pytest.mark.parametrize("part", ["PostgreSQL", "LiveKit", "Agent"])
async def test_a_part_that_is_killed_in_mid_answer_costs_nothing_but_time(
    tmp_path: Path, scripted: ScriptedServer, part: str
) -> None:
    settings = {"ALICIA_LLM_URL": scripted.url, "ALICIA_LLM_MODEL": scripted.model}
    with Up(tmp_path / "home", settings) as up:
        await asyncio.to_thread(up.ready)
        embedded = Embedded(up)
        database_url = embedded.database_url
        async with device(embedded, "local") as waiting:
            held = scripted.hold(f"{BEGUN} rest. And more.", when="Begin")
            await waiting.say("Begin")
            start = await waiting.hears(StartAnswer)
            held.release(len(BEGUN.split()))
            await waiting.until(lambda: len(waiting.all(AssistantSentence)) == 2)
            scripted.say("rest. And more.", always=True)
            embedded.kill(part)
            held.release_all()
        async with make_pool(database_url, max_size=2) as pool:
            await finished(pool, start.id)
            async with device(embedded, "local", waiting.id, log=waiting.log) as back:
                closing = await back.closed(start.id)
                assert closing.status == "completed"
                assert said(back, start.id).startswith("This was said. This was too. ")
                assert said(back, start.id).endswith("rest. And more.")
                await check(back, pool, start.id)
                await back.ask("Are you well?")


async def finished(pool: Pool, answer_id: str) -> None:
    """Wait, also through a database that comes back."""
    while True:
        try:
            if (await message(pool, answer_id))[1] != "streaming":
                return
        except psycopg.OperationalError:
            await pool.check()
        await asyncio.sleep(0.2)

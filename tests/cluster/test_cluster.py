"""Two of everything, one of each killed under load: nothing is lost, twice, or stuck."""

import asyncio
import signal
from pathlib import Path

import jwt
import pytest

import alicia
from alicia.protocol.envelope import decode, encode
from alicia.protocol.messages import AssistantSentence, UserMessage
from alicia.storage.pool import make_pool
from support.cluster import Cluster, cluster
from support.servers import PostgresServer
from support.stack import SECRET
from support.tables import journal, rows, unfinished

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("cluster")]

TALKS = 4
ROUNDS = 10
ANSWER = "One is here. Two is here. Three is here."


def token(user: str) -> str:
    return jwt.encode({"sub": user, "exp": 2_000_000_000}, SECRET, algorithm="HS256")


async def talk(
    server: Cluster, user: str, number: int, reached: asyncio.Queue[int]
) -> tuple[str, list[bytes]]:
    """Ask one question after the other, whatever happens; the conversation's id, and what this device has."""
    url, key = server.url, token(user)
    async with alicia.connect(url, token=key, store=":memory:", history=True) as conversation:
        for question in range(ROUNDS):
            text = await conversation.ask(f"Question {question} of {number}")
            # An agent that finishes what another had begun asks this model anew, and it always says all.
            assert text.endswith(ANSWER)
            reached.put_nowait(question)
        await conversation.caught_up()
        assert conversation.id
        return conversation.id, [encode(envelope) for envelope in conversation.log]


async def kill_one_of_each(server: Cluster, reached: asyncio.Queue[int]) -> None:
    """Each in the middle of the talks: when so many more answers are there."""
    for kill in (
        lambda: server.agents[0].end(signal.SIGKILL),
        lambda: server.apis[0].end(signal.SIGKILL),
        server.pgbouncer.kill,
        server.redis.kill,
        lambda: server.nodes[0].process.send(signal.SIGKILL),
    ):
        for _ in range(TALKS + 2):
            await reached.get()
        await asyncio.to_thread(kill)


async def test_one_of_each_kind_is_killed_under_load_and_nothing_is_lost(
    tmp_path: Path, fresh_database_url: str, postgres: PostgresServer, user: str
) -> None:
    reached: asyncio.Queue[int] = asyncio.Queue()
    async with cluster(tmp_path, fresh_database_url, postgres) as server:
        server.model.say(ANSWER, every=0.05, always=True)
        async with asyncio.TaskGroup() as tasks:
            talks = [tasks.create_task(talk(server, user, number, reached)) for number in range(TALKS)]
            tasks.create_task(kill_one_of_each(server, reached))
    async with make_pool(fresh_database_url, max_size=2) as pool:
        for done in talks:
            conversation_id, held = done.result()
            assert held == await journal(pool, conversation_id)
            assert await unfinished(pool, conversation_id) == []
            bodies = [decode(data).body for data in held]
            asked = [body for body in bodies if isinstance(body, UserMessage)]
            assert len({body.id for body in asked}) == len(asked) == ROUNDS
            final = [body for body in bodies if isinstance(body, AssistantSentence) and body.is_final]
            assert [body.status for body in final] == ["completed"] * ROUNDS
            stored = await rows(
                pool,
                """
                SELECT message_role, count(*)
                  FROM alicia_messages
                 WHERE conversation_id = %s AND completion_status = 'completed'
                 GROUP BY message_role
                """,
                conversation_id,
            )
            assert sorted(stored, key=str) == [("assistant", ROUNDS), ("user", ROUNDS)]

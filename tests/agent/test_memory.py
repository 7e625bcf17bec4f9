"""Memories in a conversation: recalled, traced, given to the model, and nobody else's."""

import asyncio
from pathlib import Path

import pytest

from alicia.local.embedder import MODEL
from alicia.protocol.messages import MemoryTrace
from alicia.storage.memories import Embedding, NewMemory, create_memories, memories
from alicia.storage.pool import Pool
from support.device import device
from support.memories import known
from support.scripted import Fail, Hang, ScriptedServer
from support.servers import LiveKitServer
from support.stack import Stack
from support.tables import journal, rows

QUESTION = "Which restaurants should I visit in my town?"


async def test_two_memories_are_traced_between_the_start_and_a_personal_answer(
    stack: Stack, user: str, pool: Pool
) -> None:
    memory_ids = await known(
        pool,
        user,
        "The user visits restaurants in Porto, the town they live in.",
        "Of all restaurants in town, the user visits Italian ones most.",
    )
    stack.model.say("In Porto, try the Italian place by the river.", when=QUESTION)
    async with device(stack, user) as alone:
        answer_id = await alone.ask(QUESTION)
        kinds = [type(body).__name__ for body in alone.bodies[1:]]
        assert kinds == ["StartAnswer", "MemoryTrace", "MemoryTrace", "AssistantSentence"]
        traces = alone.all(MemoryTrace)
        question = alone.bodies[0]
        assert {trace.memory_id for trace in traces} == set(memory_ids)
        for trace in traces:
            assert (trace.previous_id, trace.action, trace.memory_type) == (
                question.id,
                "retrieved",
                "profile_attribute",
            )
            assert trace.metadata is not None
            assert trace.metadata["answerId"] == answer_id
            assert 0 < trace.metadata["retrievalScore"] <= 1
        used = await rows(
            pool,
            """
            SELECT memory_id, message_id, query_prompt, position_in_results, similarity_score > 0
              FROM alicia_memory_used
             WHERE conversation_id = %s
             ORDER BY position_in_results
            """,
            alone.id,
        )
        assert used == [
            (trace.memory_id, question.id, QUESTION, place, True) for place, trace in enumerate(traces, 1)
        ]
        (prompt,) = [chat.user_text for chat in stack.model.chats if QUESTION in chat.user_text]
        assert "Porto" in prompt
        assert "Italian" in prompt
        assert alone.log == await journal(pool, alone.id)


async def test_another_users_memories_never_appear(stack: Stack, user: str, pool: Pool) -> None:
    await known(pool, f"{user}-neighbour", "The user lives in the town of Porto.")
    async with device(stack, user) as alone:
        await alone.ask(QUESTION)
        assert alone.all(MemoryTrace) == []
        (asked,) = [chat for chat in stack.model.chats if QUESTION in chat.user_text]
        assert "Porto" not in str(asked.json)


@pytest.mark.parametrize("trouble", [Fail(), Hang()], ids=["fails", "hangs"])
async def test_words_alone_recall_while_the_embeddings_server_is_in_trouble(
    trouble: Fail | Hang,
    scripted: ScriptedServer,
    tmp_path: Path,
    database_url: str,
    livekit: LiveKitServer,
    user: str,
    pool: Pool,
) -> None:
    async with pool.connection() as conn:
        await create_memories(conn, user, [NewMemory(content="The user visits restaurants in the old town.")])
    settings = {"ALICIA_EMBEDDING_URL": scripted.url, "ALICIA_EMBEDDING_MODEL": scripted.model}
    with Stack(tmp_path, database_url, livekit, settings=settings) as stack:
        scripted.script("embeddings", trouble, always=True)
        stack.model.say("Stay in the old town.")
        async with device(stack, user) as alone:
            await alone.ask(QUESTION)
            (trace,) = alone.all(MemoryTrace)
            assert trace.content == "The user visits restaurants in the old town."
    assert any("Which restaurants" in str(request.json) for request in scripted.requests)


async def test_a_new_worker_fills_in_vectors_that_are_missing_or_of_another_model(
    own_stack: Stack, user: str, pool: Pool
) -> None:
    other = Embedding(model="another", vector=[0.1] * 384)
    new = [NewMemory(content="The user has a boat."), NewMemory(content="The user rows.", embedding=other)]
    async with pool.connection() as conn:
        await create_memories(conn, user, new)
    own_stack.start_agent()
    async with asyncio.timeout(60):
        while True:
            async with pool.connection() as conn:
                models = {one.embeddings_info.get("model") for one in await memories(conn, user)}
            if models == {MODEL}:
                return
            await asyncio.sleep(0.1)

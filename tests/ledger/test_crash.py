"""Whatever instant an agent dies at, the journal and the rows say the same."""

import asyncio
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from alicia.protocol.envelope import decode
from alicia.protocol.messages import AssistantSentence, Body, ReasoningStep, StartAnswer, UserMessage
from alicia.protocol.session import AgentSession
from support.talk import Talk

BODIES = 2_000
KILLS = 8
APPENDER = Path(__file__).parents[1] / "support" / "appender.py"


async def killed_at(url: str, talk: Talk, seconds: float) -> bool:
    """Run the appender and kill it so long after it began; whether it came to its end first."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, APPENDER, url, talk.id, str(BODIES)),
        env={**os.environ, "PGAPPNAME": talk.id},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    assert await process.stdout.readline() == b"ready\n"
    try:
        return await asyncio.wait_for(process.wait(), seconds) == 0
    except TimeoutError:
        process.kill()
        await process.wait()
        await let_go(talk)
        return False


async def let_go(talk: Talk) -> None:
    """Wait until the server, too, has ended what the killed one asked for: its last commit may be late."""
    sql = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
    async with asyncio.timeout(60):
        while await talk.rows(sql, talk.id):
            pass


@pytest.mark.timeout(240)
async def test_after_kills_at_random_instants_the_journal_equals_the_rows(
    database_url: str, talk: Talk
) -> None:
    chance = random.Random(4)
    for _ in range(KILLS):
        assert not await killed_at(database_url, talk, chance.uniform(0.02, 0.2))
        assert len(await check(talk)) < BODIES
    assert await killed_at(database_url, talk, 200)
    assert len(await check(talk)) >= BODIES


async def check(talk: Talk) -> list[Body]:
    """Rebuild the rows from the journal alone, and compare."""
    envelopes = [decode(data) async for data in talk.ledger.replay(talk.id)]
    previous = [envelope.previous_stanza_id for envelope in envelopes]
    assert previous == [0, *(envelope.stanza_id for envelope in envelopes)][: len(envelopes)]
    bodies = [envelope.body for envelope in envelopes if isinstance(envelope.body, Body)]
    assert len(bodies) == len(envelopes)
    row = await talk.ledger.load(talk.id)
    assert row.last_server_stanza_id == (envelopes[-1].stanza_id if envelopes else 0)

    messages: dict[str, dict[str, Any]] = {}
    sentences: dict[str, dict[str, Any]] = {}
    steps: dict[str, dict[str, Any]] = {}
    meta: list[tuple[str, str, str]] = []
    for envelope in envelopes:
        body = envelope.body
        match body:
            case UserMessage():
                messages[body.id] = {"role": "user", "contents": body.content, "status": "completed"}
            case StartAnswer():
                messages[body.id] = {"role": "assistant", "contents": "", "status": "streaming"}
            case ReasoningStep():
                steps[body.id] = {"message_id": body.message_id, "content": body.content}
            case AssistantSentence():
                message = messages[body.previous_id]
                message["contents"] += body.text
                sentences[body.id] = {
                    "message_id": body.previous_id,
                    "number": body.sequence,
                    "text": body.text,
                    "status": "streaming",
                }
                if body.is_final:
                    message["status"] = "completed"
                    meta.append((body.id, "isFinal", "true"))
                    for sentence in sentences.values():
                        if sentence["message_id"] == body.previous_id:
                            sentence["status"] = "completed"
            case _:
                raise AssertionError(body)
        own = getattr(body, "id", "")
        meta += [(own, key, str(value)) for key, value in (envelope.meta or {}).items()]
    assert messages == by_id(
        await talk.rows(
            """
            SELECT id, message_role::text AS role, contents, completion_status AS status
              FROM alicia_messages WHERE conversation_id = %s
            """,
            talk.id,
        ),
    )
    assert sentences == by_id(
        await talk.rows(
            """
            SELECT s.id, message_id, sentence_sequence_number AS number, text, s.completion_status AS status
              FROM alicia_sentences s JOIN alicia_messages m ON m.id = s.message_id
             WHERE conversation_id = %s
            """,
            talk.id,
        ),
    )
    assert steps == by_id(
        await talk.rows(
            """
            SELECT r.id, message_id, content
              FROM alicia_reasoning_steps r JOIN alicia_messages m ON m.id = r.message_id
             WHERE conversation_id = %s
            """,
            talk.id,
        ),
    )
    refs = [*messages, *sentences, *steps]
    rows = await talk.rows("SELECT ref, key, value FROM alicia_meta WHERE ref = ANY(%s)", refs)
    assert sorted(meta) == sorted((found["ref"], found["key"], found["value"]) for found in rows)
    talk.session = AgentSession(talk.id, row.last_server_stanza_id, row.last_client_stanza_id)
    return bodies


def by_id(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row.pop("id"): row for row in rows}

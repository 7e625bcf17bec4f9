"""The whole stack on its own models, with nothing scripted."""

import asyncio
from pathlib import Path

import pytest

from alicia.protocol.messages import AssistantSentence, ControlStop
from alicia.storage.pool import make_pool
from support.device import device
from support.embedded import Embedded
from support.tables import journal, unfinished
from support.up import Up

pytestmark = [pytest.mark.timeout(240), pytest.mark.xdist_group("up")]


async def test_a_conversation_with_the_small_local_model_is_stored_as_it_was_heard(tmp_path: Path) -> None:
    with Up(tmp_path / "home") as up:
        await asyncio.to_thread(up.ready)
        embedded = Embedded(up)
        async with device(embedded, "local") as alone, make_pool(embedded.database_url) as pool:
            await alone.say("Please tell me three things about the sea.")
            # It may still be loading its weights.
            await alone.until(lambda: alone.all(AssistantSentence), 150)
            first = alone.all(AssistantSentence)[0]
            assert first.text.strip()
            # The small model does not always find an end.
            stop = ControlStop(conversation_id=alone.id, target_id=first.previous_id, stop_type="generation")
            await alone.submit(stop)
            await alone.closed(first.previous_id)
            # It may have found its end first: then what becomes of the stop is told after it.
            await alone.until(lambda: not alone.session.outbox)
            assert alone.log == await journal(pool, alone.id)
            assert await unfinished(pool, alone.id) == []

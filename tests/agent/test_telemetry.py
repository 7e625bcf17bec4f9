"""What an operator sees of a turn: one trace, numbers, and logs that tell nothing of what was said."""

import asyncio
import json
import secrets
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families

from alicia import ids
from alicia.local import ports
from alicia.protocol.envelope import decode
from alicia.protocol.messages import (
    AssistantSentence,
    AudioChunk,
    Configuration,
    ErrorMessage,
    StartAnswer,
    UserMessage,
)
from alicia.storage.pool import Pool, make_pool
from alicia.telemetry import tracing
from support import ground
from support.collector import Collector
from support.device import Device, device
from support.scripted import Cut, Fail, Script, Text, ToolCall
from support.servers import LiveKitServer, PostgresServer
from support.speech import Person, age_of_wisdom
from support.stack import Part, Stack
from support.tables import rows
from support.up import eventually


class Watched(Stack):
    """A stack whose traces are collected and whose numbers can be asked for, and that logs all it would."""

    def __init__(self, home: Path, database_url: str, livekit: LiveKitServer, collector: str) -> None:
        super().__init__(home, database_url, livekit)
        self.metrics_port = ports.choose()
        self._collector = collector

    def _part(self, command: str, *ready: str) -> Part:
        part = super()._part(command, *ready)
        part.settings |= {
            "ALICIA_LOG_LEVEL": "debug",
            "ALICIA_METRICS_PORT": str(self.metrics_port),
            "OTEL_EXPORTER_OTLP_ENDPOINT": self._collector,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        return part

    def count(self, name: str, **labels: str) -> float:
        """What the agent counted."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics") as answer:
            families = text_string_to_metric_families(answer.read().decode())
        found = [sample for family in families for sample in family.samples if sample.name == name]
        return sum(sample.value for sample in found if labels.items() <= sample.labels.items())


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with Collector() as opened:
        yield opened


@pytest.fixture(scope="module")
def watched(
    tmp_path_factory: pytest.TempPathFactory,
    postgres: PostgresServer,
    livekit: LiveKitServer,
    collector: Collector,
) -> Iterator[Watched]:
    """With a database of its own: what agents of other tests leave unfinished would be counted here, too."""
    name = f"watched_{secrets.token_hex(6)}"
    url = postgres.create(name, template=ground.ask("template")["name"])
    with Watched(tmp_path_factory.mktemp("watched"), url, livekit, collector.url) as opened:
        yield opened
    postgres.drop(name)


@pytest.fixture
async def pool(watched: Watched) -> AsyncIterator[Pool]:
    async with make_pool(watched.database_url, max_size=2) as opened:
        yield opened


@pytest.fixture
def client() -> dict[str, str]:
    """What a client says of its own trace."""
    return {tracing.TRACE_ID: secrets.token_hex(16), tracing.TURN_ID: secrets.token_hex(8)}


async def ask(alone: Device, text: str, client: dict[str, str]) -> UserMessage:
    """Ask within the client's own trace, and wait for the answer."""
    message = UserMessage(conversation_id=alone.id, id=ids.new(ids.MessageId), content=text)
    alone.session.submit(message, client)
    envelope = alone.session.next_to_send()
    assert envelope
    await alone.send(envelope)
    await alone.answered(message)
    return message


def use_a_tool(watched: Watched) -> None:
    watched.model.reset()
    watched.model.chat(Script(ToolCall("calculator", {"expression": "6 * 7"})), when="How many")
    watched.model.chat(Script(Text("Pomegranates. Many.")), when="How many")


async def test_a_turn_is_one_trace_and_every_envelope_and_row_names_it(
    watched: Watched, collector: Collector, user: str, pool: Pool, client: dict[str, str]
) -> None:
    use_a_tool(watched)
    async with device(watched, user) as alone:
        await ask(alone, "How many?", client)
        (answer,) = alone.all(StartAnswer)
        metas = [decode(data).meta or {} for data in alone.log]
        refs = [decode(data).body for data in alone.log]

    def ours() -> list[Span]:
        return [span for span in collector.spans if span.trace_id.hex() == client[tracing.TRACE_ID]]

    await asyncio.to_thread(
        eventually, lambda: any(span.name == "answer" for span in ours()), "the answer's span has come"
    )
    names = [span.name for span in ours()]
    assert {"message", "answer", "recall", "model", "tool", "commit"} == set(names)
    assert names.count("model") == 2
    spans = {span.span_id: span for span in ours()}
    for span in spans.values():
        parent = spans.get(span.parent_span_id)
        if span.name == "message":
            assert span.parent_span_id.hex() == client[tracing.TURN_ID]
        elif span.name == "answer":
            assert parent
            assert parent.name == "message"
        else:
            assert parent
            assert parent.name in ("message", "answer", "model", "tool")

    assert len(metas) > 5
    assert {meta[tracing.TRACE_ID] for meta in metas} == {client[tracing.TRACE_ID]}
    assert {bytes.fromhex(meta[tracing.SPAN_ID]) for meta in metas} <= set(spans)
    numbered = [(meta[tracing.SPAN_ID], meta[tracing.COUNTER]) for meta in metas]
    assert len(set(numbered)) == len(numbered)
    for body, meta in zip(refs, metas, strict=True):
        stored = await rows(
            pool,
            "SELECT key, value FROM alicia_meta WHERE ref = %s AND key = %s",
            getattr(body, "id", alone.id),
            tracing.SPAN_ID,
        )
        assert (tracing.SPAN_ID, meta[tracing.SPAN_ID]) in stored

    async with watched.caller(user) as api:
        told = await api.get(f"/messages/{answer.id}/trace", params={"format": "text"})
    assert f"trace {client[tracing.TRACE_ID]}" in told.text
    assert "calculator" in told.text
    assert "for the model's first token" in told.text


async def test_a_turn_is_counted_and_timed(watched: Watched, user: str) -> None:
    before = watched.count("alicia_turns_total", status="completed")
    use_a_tool(watched)
    async with device(watched, user) as alone:
        await alone.ask("How many?")
        await asyncio.to_thread(
            eventually,
            lambda: watched.count("alicia_turns_total", status="completed") == before + 1,
            "the turn is counted",
        )
        for stage in ("recall", "model", "tool", "commit"):
            assert watched.count("alicia_stage_seconds_count", stage=stage) > 0, stage
        for name in (
            "alicia_first_sentence_seconds_count",
            "alicia_tool_uses_total",
            "alicia_memory_hits_count",
            "alicia_replays_total",
            "alicia_pool_connections",
            "alicia_jobs",
        ):
            assert watched.count(name) > 0, name
    for name in ("alicia_model_errors_total", "alicia_questions_waiting", "alicia_stand_downs_total"):
        assert watched.count(name) == 0, name


async def test_what_was_lost_on_the_way_is_counted(watched: Watched, user: str) -> None:
    names = ("alicia_redeliveries_total", "alicia_gaps_total", "alicia_replay_stanzas_sum")
    before = [watched.count(name) for name in names]
    watched.model.reset()
    watched.model.say("Here.", when="Hi")
    async with device(watched, user) as alone:
        message = await alone.say("Hi")
        await alone.answered(message)
        await alone.submit(message)
        again = alone.session.configuration(features=["streaming"])
        assert isinstance(again.body, Configuration)
        lost = replace(again.body, last_sequence_seen=decode(alone.log[0]).stanza_id)
        await alone.send(replace(again, body=lost))
        missed = len(alone.log) - 1
        await asyncio.to_thread(
            eventually,
            lambda: (
                [watched.count(name) for name in names] == [before[0] + 1, before[1] + 1, before[2] + missed]
            ),
            "all of it is counted",
        )


async def test_questions_that_wait_and_models_that_fail_are_counted(watched: Watched, user: str) -> None:
    failed = watched.count("alicia_model_errors_total")
    watched.model.reset()
    held = watched.model.hold("At last.", when="First")
    async with device(watched, user) as alone:
        await alone.say("First")
        await alone.hears(StartAnswer)
        watched.model.chat(Script(Text("Half of"), Cut()), when="Second")
        second = await alone.say("Second")
        await asyncio.to_thread(
            eventually, lambda: watched.count("alicia_questions_waiting") == 1, "the question waits"
        )
        held.release_all()
        await alone.answered(second)
    await asyncio.to_thread(
        eventually, lambda: watched.count("alicia_model_errors_total") == failed + 1, "the failure is counted"
    )
    assert watched.count("alicia_questions_waiting") == 0


async def test_a_conversation_that_another_agent_has_taken_is_counted(
    watched: Watched, user: str, pool: Pool
) -> None:
    before = watched.count("alicia_stand_downs_total")
    watched.model.reset()
    async with device(watched, user) as alone:
        held = watched.model.hold("Too late.", when="Who")
        await alone.say("Who is it?")
        await alone.hears(StartAnswer)
        async with pool.connection() as conn:
            # What another agent's append does to the counter that fences this one off.
            await conn.execute(
                """
                UPDATE alicia_conversations
                   SET last_server_stanza_id = last_server_stanza_id - 1
                 WHERE id = %s
                """,
                (alone.id,),
            )
        held.release_all()
        await asyncio.to_thread(
            eventually,
            lambda: watched.count("alicia_stand_downs_total") == before + 1,
            "standing down is counted",
        )
        # Else its own agent would find the answer unfinished, and give it during another test.
        async with pool.connection() as conn:
            await conn.execute(
                "UPDATE alicia_conversations SET deleted_at = now() WHERE id = %s", (alone.id,)
            )


async def test_neither_logs_nor_traces_tell_what_was_said(
    watched: Watched, collector: Collector, user: str, client: dict[str, str]
) -> None:
    use_a_tool(watched)
    async with device(watched, user) as alone:
        message = await ask(alone, "How many persimmons?", client)
    said = watched.agent.log.read_text() + watched.api.log.read_text()
    assert message.conversation_id in said
    assert client[tracing.TRACE_ID] in said
    for word in ("persimmon", "Pomegranate", "6 * 7"):
        assert word not in said
        assert all(word.encode() not in body for body in collector.bodies)
    for secret in (watched.livekit.api_secret, watched.database_url, watched.token(user)):
        assert secret not in said


async def test_what_a_model_server_says_of_a_failure_is_told_to_the_user_and_not_to_the_log(
    watched: Watched, user: str, client: dict[str, str]
) -> None:
    watched.model.reset()
    watched.model.chat(Fail(400, "Cannot parse: How many quinces?"), when="quinces")
    async with device(watched, user) as alone:
        await ask(alone, "How many quinces?", client)
        told = await alone.hears(ErrorMessage)
    assert "It said: Cannot parse: How many quinces?" in told.message
    (line,) = [
        json.loads(each)
        for each in watched.agent.log.read_text().splitlines()
        if "model failed" in each and str(told.originating_id) in each
    ]
    assert "did not take the request" in line["reason"]
    assert "quinces" not in watched.agent.log.read_text()


async def test_a_spoken_turn_is_traced_from_what_was_heard_to_what_was_said_aloud(
    watched: Watched, collector: Collector, user: str
) -> None:
    watched.model.reset()
    watched.model.say("The tallest mountain is Mount Everest. It stands on a border.", always=True)
    async with device(watched, user, features=("streaming", "voice")) as phone:
        person = await Person.with_microphone(phone.room)
        await person.say(age_of_wisdom())
        start = await phone.hears(StartAnswer)
        await phone.closed(start.id)
        spoken = [each for each in phone.all(AssistantSentence) if each.text]
        await phone.hears(AudioChunk, lambda chunk: chunk.id == spoken[-1].id)
        (trace_id,) = {(decode(data).meta or {})[tracing.TRACE_ID] for data in phone.log}

    def names() -> list[str]:
        return [span.name for span in collector.spans if span.trace_id.hex() == trace_id]

    def whole() -> bool:
        stages = {"message", "transcription", "recall", "answer", "model", "commit"}
        return stages <= set(names()) and names().count("speech") == len(spoken)

    await asyncio.to_thread(eventually, whole, "all spans have come")
    for stage in ("transcription", "speech"):
        assert watched.count("alicia_stage_seconds_count", stage=stage) > 0, stage

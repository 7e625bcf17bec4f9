"""Spans: when a turn is traced, what its envelopes carry, and what reaches a collector."""

import asyncio
from collections.abc import Iterator, Mapping

import pytest

from alicia.telemetry import tracing
from alicia.telemetry.tracing import Context, span, turn

CLIENT = {tracing.TRACE_ID: "0af7651916cd43dd8448eb211c80319c", tracing.TURN_ID: "b7ad6b7169203331"}
PARENT = Context(0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331)


class Recorded:
    def __init__(self, name: str, parent: Context | None, number: int) -> None:
        self.name, self.parent = name, parent
        self.context = Context(parent.trace_id if parent else 7, number)
        self.error: BaseException | None = None
        self.ended = False

    def end(self, error: BaseException | None) -> None:
        self.ended, self.error = True, error


class Recorder:
    def __init__(self) -> None:
        self.spans: list[Recorded] = []

    def start(
        self, name: str, parent: Context | None, attributes: Mapping[str, str | int], ago: float = 0.0
    ) -> Recorded:
        self.spans.append(Recorded(name, parent, len(self.spans) + 1))
        return self.spans[-1]


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    made = Recorder()
    tracing.record(made)
    yield made
    tracing.record(None)


def test_every_turn_has_a_trace_of_its_own_though_nothing_is_exported() -> None:
    with turn("answer"), span("recall"):
        first = tracing.meta()
    with turn("answer"):
        second = tracing.meta()
    assert first.keys() == second.keys() == {*CLIENT, tracing.SPAN_ID, tracing.COUNTER}
    assert all(first[key] != second[key] for key in (*CLIENT, tracing.SPAN_ID))
    assert Context.of(first)
    assert tracing.here() is None


def test_what_is_part_of_no_turn_has_a_trace_but_nothing_is_exported_of_it(recorder: Recorder) -> None:
    assert tracing.meta() == {}
    with tracing.apart():
        first, second = tracing.meta(), tracing.meta()
    assert Context.of(first) == Context.of(second)
    assert [each[tracing.COUNTER] for each in (first, second)] == [1, 2]
    assert recorder.spans == []


def test_a_clients_trace_is_carried_on_though_nothing_is_exported() -> None:
    with turn("answer", Context.of(CLIENT)) as answer:
        first = tracing.meta()
        with span("model") as model:
            second, third = tracing.meta(), tracing.meta()
    assert answer.context
    assert model.context
    assert first[tracing.TRACE_ID] == second[tracing.TRACE_ID] == CLIENT[tracing.TRACE_ID]
    assert first[tracing.TURN_ID] == second[tracing.TURN_ID] == f"{answer.context.span_id:016x}"
    assert first[tracing.SPAN_ID] == first[tracing.TURN_ID]
    assert second[tracing.SPAN_ID] == third[tracing.SPAN_ID] == f"{model.context.span_id:016x}"
    assert [each[tracing.COUNTER] for each in (first, second, third)] == [1, 1, 2]
    assert tracing.here() is None


@pytest.mark.parametrize(
    "meta",
    [
        None,
        {},
        {tracing.TRACE_ID: CLIENT[tracing.TRACE_ID]},
        CLIENT | {tracing.TRACE_ID: "0" * 32},
        CLIENT | {tracing.TURN_ID: "b7ad6b716920333"},
        CLIENT | {tracing.TRACE_ID: 7},
        CLIENT | {tracing.TRACE_ID: "g" * 32},
        CLIENT | {tracing.TURN_ID: "٣" * 16},
    ],
)
def test_what_is_no_parent_is_none(meta: dict[str, object] | None) -> None:
    assert Context.of(meta) is None


def test_every_stage_is_a_child_of_what_it_is_part_of(recorder: Recorder) -> None:
    with turn("message", Context.of(CLIENT)):
        taken = tracing.here()
    assert taken
    with turn("answer", taken.context), span("model"), span("commit"):
        pass
    assert [each.name for each in recorder.spans] == ["message", "answer", "model", "commit"]
    parents = [each.parent for each in recorder.spans]
    assert parents == [PARENT, *(each.context for each in recorder.spans[:3])]
    assert all(each.ended and each.error is None for each in recorder.spans)


def test_a_stage_outside_of_a_turn_makes_no_trace(recorder: Recorder) -> None:
    with span("commit"):
        assert tracing.meta() == {}
    assert recorder.spans == []


def test_a_failed_stage_says_so_and_lets_the_error_through(recorder: Recorder) -> None:
    with pytest.raises(ValueError, match="no"), turn("answer"), span("tool"):
        raise ValueError("no")
    assert [type(each.error) for each in recorder.spans] == [ValueError, ValueError]


async def test_another_task_goes_on_in_the_span_of_the_first(recorder: Recorder) -> None:
    with turn("answer"), span("model"):
        model = tracing.here()

    async def speak() -> None:
        with tracing.within(model), span("speech"):
            pass
        assert tracing.here() is None

    await asyncio.create_task(speak())
    assert recorder.spans[2].parent == recorder.spans[1].context


async def test_turns_side_by_side_keep_apart(recorder: Recorder) -> None:
    async def answer() -> str:
        with turn("answer"):
            await asyncio.sleep(0)
            with span("model"):
                await asyncio.sleep(0)
                return str(tracing.meta()[tracing.SPAN_ID])

    spans = await asyncio.gather(*(asyncio.create_task(answer()) for _ in range(3)))
    models = [each for each in recorder.spans if each.name == "model"]
    assert sorted(spans) == sorted(f"{each.context.span_id:016x}" for each in models)
    answers = {each.context for each in recorder.spans if each.name == "answer"}
    assert {each.parent for each in models} == answers

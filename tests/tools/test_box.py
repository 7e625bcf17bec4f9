"""The toolbox: what is offered, what may run, and what comes of it."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from alicia.llm.messages import ToolCall
from alicia.storage import tools as rows
from alicia.storage.pool import Pool, make_pool
from alicia.tools.box import Toolbox
from alicia.tools.builtin.calculator import calculator
from alicia.tools.definition import Caller, Definition, Run
from alicia.tools.outcome import ToolOutcome, succeeded

ANNA = Caller(user_id="anna")
TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
    "required": ["text"],
    "additionalProperties": False,
}


async def echo(_: Caller, arguments: dict[str, Any]) -> ToolOutcome:
    return succeeded(arguments)


def tool(name: str = "echo", run: Run = echo, seconds: float = 5.0, **schema: Any) -> Definition:
    return Definition(
        name=name, description=f"What {name} does.", schema={**TEXT, **schema}, run=run, timeout=seconds
    )


async def run(
    definition: Definition, arguments: str = '{"text": "hi"}', name: str | None = None
) -> ToolOutcome:
    async with Toolbox([definition]).open() as box:
        return await box.run(ANNA, ToolCall("1", name or definition.name, arguments))


async def test_a_tool_gets_its_arguments_and_its_result_is_the_outcome() -> None:
    outcome = await run(tool(), '{"text": "hi", "times": 2}')
    assert outcome == succeeded({"text": "hi", "times": 2})
    assert outcome.success


async def test_an_unknown_tool_is_an_error_that_names_it() -> None:
    outcome = await run(tool(), name="nope")
    assert (outcome.status, outcome.error_code) == ("error", 301)
    assert "'nope'" in (outcome.error_message or "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "'text' is a required property"),
        ("{", "JSON"),
        ('["hi"]', "JSON object"),
        ('{"text": 1}', "`text`: 1 is not of type 'string'"),
        ('{"text": "a", "times": 0}', "`times`"),
        ('{"text": "a", "more": 1}', "'more' was unexpected"),
        ('{"text": "\udcff"}', "JSON"),
        ("[" * 100_000, "JSON"),
        ('{"text": ' + "[" * 900 + "]" * 900 + "}", ""),
    ],
)
async def test_wrong_arguments_are_refused_before_anything_runs(arguments: str, complaint: str) -> None:
    async def never(_: Caller, __: dict[str, Any]) -> ToolOutcome:
        raise AssertionError("the tool ran")

    outcome = await run(tool(run=never), arguments)
    assert (outcome.status, outcome.error_code) == ("error", 302)
    assert complaint in (outcome.error_message or "")
    assert len(outcome.error_message or "") < 600


def raising(error: BaseException) -> Run:
    async def fail(_: Caller, __: dict[str, Any]) -> ToolOutcome:
        raise error

    return fail


@pytest.mark.parametrize(
    "error", [ValueError("x"), TimeoutError(), RecursionError(), asyncio.CancelledError()]
)
async def test_whatever_a_tool_throws_becomes_an_outcome(error: BaseException) -> None:
    outcome = await run(tool(run=raising(error)))
    assert (outcome.status, outcome.error_code) == ("error", 303)


async def test_a_result_that_is_no_json_is_the_tools_error() -> None:
    async def strange(_: Caller, __: dict[str, Any]) -> ToolOutcome:
        return succeeded({"what": object()})

    assert (await run(tool(run=strange))).error_code == 303


async def test_a_tool_that_takes_too_long_is_stopped_and_times_out() -> None:
    stopped = asyncio.Event()

    async def slow(_: Caller, __: dict[str, Any]) -> ToolOutcome:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            stopped.set()

    outcome = await run(tool(run=slow, seconds=0.01))
    assert (outcome.status, outcome.error_code) == ("error", 304)
    assert stopped.is_set()


async def test_cancelling_the_caller_stops_the_tool_and_nothing_else() -> None:
    running, stopped = asyncio.Event(), asyncio.Event()

    async def slow(_: Caller, __: dict[str, Any]) -> ToolOutcome:
        running.set()
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            stopped.set()

    async with Toolbox([tool(run=slow), calculator]).open() as box:
        task = asyncio.create_task(box.run(ANNA, ToolCall("1", "echo", '{"text": "a"}')))
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stopped.is_set()
        after = await box.run(ANNA, ToolCall("2", "calculator", '{"expression": "1+1"}'))
    assert after.success


async def test_a_tool_with_a_broken_schema_is_left_out_and_the_others_stay() -> None:
    broken = [tool("a", type="text"), tool("b", properties={"text": {"type": "nonsense"}})]
    async with Toolbox([*broken, calculator]).open() as box:
        assert [offer.name for offer in box.available("anna")] == ["calculator"]


async def test_a_schema_is_never_fetched_from_anywhere() -> None:
    outcome = await run(tool(properties={"text": {"$ref": "http://127.0.0.1:9/schema.json"}}))
    assert (outcome.status, outcome.error_code) == ("error", 302)


async def test_tools_are_offered_in_the_same_order_however_they_come() -> None:
    names = ["b", "d", "a", "c"]
    async with Toolbox([tool(name) for name in names]).open() as box:
        assert [offer.name for offer in box.available("anna")] == sorted(names)


async def until(pool: Pool, box: Toolbox, met: Callable[[], bool]) -> None:
    """Read again until it is so; the test's own time limit is the limit."""
    while not met():
        await box.refresh()


async def test_tools_become_rows_and_stay_switched_off_over_a_restart(fresh_database_url: str) -> None:
    async with make_pool(fresh_database_url) as pool:
        async with Toolbox([calculator, tool()], pool=pool).open() as box, pool.connection() as conn:
            stored = {row.name: row for row in await rows.tools(conn)}
            assert stored["calculator"].schema == calculator.schema
            assert stored["calculator"].description == calculator.description
            await rows.enable_tool(conn, "echo", enabled=False)
            await until(pool, box, lambda: len(box.available("anna")) == 1)
            off = await box.run(ANNA, ToolCall("1", "echo", '{"text": "a"}'))
            assert (off.error_code, off.error_message) == (301, "The tool 'echo' is switched off.")
        async with Toolbox([calculator, tool()], pool=pool).open() as box:
            assert [offer.name for offer in box.available("anna")] == ["calculator"]


async def test_what_the_code_no_longer_has_is_retired_and_comes_back_as_it_was(
    fresh_database_url: str,
) -> None:
    async with make_pool(fresh_database_url) as pool, pool.connection() as conn:
        async with Toolbox([calculator, tool()], pool=pool).open():
            await rows.enable_tool(conn, "echo", enabled=False)
        await rows.register_tool(conn, "by_hand", "Somebody else's.", TEXT)
        async with Toolbox([calculator], pool=pool).open():
            assert [row.name for row in await rows.tools(conn)] == ["by_hand", "calculator"]
        async with Toolbox([calculator, tool()], pool=pool).open() as box:
            back = {row.name: row.enabled for row in await rows.tools(conn)}
            assert back == {"by_hand": True, "calculator": True, "echo": False}
            assert [offer.name for offer in box.available("anna")] == ["calculator"]


async def test_a_start_that_changes_nothing_writes_nothing(fresh_database_url: str) -> None:
    async with make_pool(fresh_database_url) as pool, pool.connection() as conn:
        async with Toolbox([calculator], pool=pool).open():
            before = await rows.tools(conn)
        async with Toolbox([calculator], pool=pool).open():
            assert await rows.tools(conn) == before


async def test_two_workers_may_start_at_once(fresh_database_url: str) -> None:
    names = [f"tool_{secrets.token_hex(2)}" for _ in range(10)]
    async with make_pool(fresh_database_url, max_size=4) as pool:

        async def start() -> None:
            async with Toolbox([tool(name) for name in names], pool=pool).open():
                pass

        await asyncio.gather(*(start() for _ in range(4)))
        async with pool.connection() as conn:
            assert [row.name for row in await rows.tools(conn)] == sorted(names)

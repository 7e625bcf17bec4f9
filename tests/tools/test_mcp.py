"""MCP servers, real ones: one a child process, one behind HTTP, both with the same tools."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import msgspec
import psutil
import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from alicia.llm.messages import ToolCall
from alicia.storage import tools as rows
from alicia.storage.pool import make_pool
from alicia.tools.box import Toolbox
from alicia.tools.builtin.calculator import calculator
from alicia.tools.definition import Caller
from alicia.tools.mcp.config import HttpServer, StdioServer
from alicia.tools.mcp.connection import connect
from alicia.tools.mcp.server import McpServer, Pace
from alicia.tools.outcome import ToolOutcome
from alicia.tools.results import cut
from support import mcp_servers

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANNA = Caller(user_id="anna")
QUICK = Pace(first_pause=0.02, longest_pause=0.2)
PATIENCE = 60
both = pytest.mark.parametrize("server", ["near", "far"])


class Box:
    """A toolbox with a shorter way to call."""

    def __init__(self, box: Toolbox) -> None:
        self.box = box

    @property
    def names(self) -> list[str]:
        return [offer.name for offer in self.box.available("anna")]

    async def run(self, name: str, /, **arguments: Any) -> ToolOutcome:
        return await self.box.run(ANNA, ToolCall("1", name, msgspec.json.encode(arguments).decode()))

    async def until_offered(self, name: str) -> None:
        """Ask something else until the notice has come; it does not wait for anybody."""
        async with asyncio.timeout(PATIENCE):
            while name not in self.names:
                await self.run("near__begun_tokens")


async def up(*servers: McpServer) -> None:
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(server.up.wait() for server in servers))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box() -> AsyncIterator[Box]:
    """Both servers, up, for all tests that leave them alive."""
    with mcp_servers.http() as process:
        servers = [McpServer(mcp_servers.stdio(), QUICK), McpServer(process.config, QUICK)]
        async with Toolbox([calculator], servers).open() as opened:
            await up(*servers)
            yield Box(opened)


@both
async def test_a_tool_of_a_server_runs_like_any_other(box: Box, server: str) -> None:
    outcome = await box.run(f"{server}__add", a=2, b=3)
    assert (outcome.status, outcome.result) == ("success", {"result": 5})


@both
async def test_a_tool_that_fails_says_why(box: Box, server: str) -> None:
    outcome = await box.run(f"{server}__fail")
    assert (outcome.status, outcome.error_code) == ("error", 303)
    assert "the tool says no" in (outcome.error_message or "")


@both
async def test_wrong_arguments_do_not_reach_the_server(box: Box, server: str) -> None:
    outcome = await box.run(f"{server}__add", a="two", b=3)
    assert (outcome.status, outcome.error_code) == ("error", 302)
    assert "`a`" in (outcome.error_message or "")


@both
async def test_a_tool_that_the_server_does_not_have_is_unknown(box: Box, server: str) -> None:
    assert (await box.run(f"{server}__nothing")).error_code == 301


@both
async def test_a_result_of_five_megabytes_is_whole_and_can_be_cut(box: Box, server: str) -> None:
    outcome = await box.run(f"{server}__large", size=5 << 20)
    assert outcome.result == {"result": "x" * (5 << 20)}
    short, truncated = cut(outcome.result, 48_000)
    assert truncated
    assert 40_000 < len(short["result"]) < 48_000


@both
async def test_ten_calls_run_side_by_side(box: Box, server: str) -> None:
    outcomes = await asyncio.gather(*(box.run(f"{server}__meet", count=10) for _ in range(10)))
    assert [outcome.result for outcome in outcomes] == [{"result": 10}] * 10


@both
async def test_a_cancelled_call_is_cancelled_on_the_server_too(box: Box, server: str) -> None:
    token = secrets.token_hex(4)
    task = asyncio.create_task(box.run(f"{server}__hang", token=token))
    while token not in (await box.run(f"{server}__begun_tokens")).result["result"]:
        pass
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(PATIENCE):
        while token not in (await box.run(f"{server}__stopped_tokens")).result["result"]:
            pass


@both
async def test_a_new_tool_is_offered_as_soon_as_the_server_tells(box: Box, server: str) -> None:
    learned = f"skill_{secrets.token_hex(4)}"
    await box.run(f"{server}__learn", tool=learned)
    await box.until_offered(f"{server}__{learned}")
    assert (await box.run(f"{server}__{learned}")).result == {"result": learned}


async def test_a_tool_goes_by_its_own_name_only_if_one_server_has_it(box: Box) -> None:
    assert (await box.run("add", a=1, b=1)).error_code == 301
    learned = f"skill_{secrets.token_hex(4)}"
    await box.run("near__learn", tool=learned)
    await box.until_offered(f"near__{learned}")
    assert (await box.run(learned)).result == {"result": learned}


async def test_a_call_that_takes_too_long_times_out_and_leaves_the_server_up() -> None:
    server = McpServer(mcp_servers.stdio(), Pace(call=0.2))
    async with Toolbox([], [server]).open() as opened:
        await up(server)
        outcome = await Box(opened).run("near__hang", token="late")
        assert (outcome.status, outcome.error_code) == ("error", 304)
        assert server.up.is_set()


async def test_a_child_that_dies_in_mid_call_gives_an_error_and_comes_back() -> None:
    server = McpServer(mcp_servers.stdio(), QUICK)
    async with Toolbox([], [server]).open() as opened:
        await up(server)
        box = Box(opened)
        waiting = asyncio.create_task(box.run("near__hang", token="lost"))
        while (await box.run("near__begun_tokens")).result != {"result": ["lost"]}:
            pass
        dying = await box.run("near__die")
        for outcome in (dying, await waiting):
            assert (outcome.status, outcome.error_code) == ("error", 303)
            assert "stopped in the middle of the call" in (outcome.error_message or "")
        assert not server.up.is_set()
        down = await box.run("near__add", a=1, b=2)
        assert (down.status, down.error_code) == ("error", 303)
        assert "near__add" in box.names
        await up(server)
        assert (await box.run("near__add", a=1, b=2)).result == {"result": 3}


async def test_a_server_behind_http_may_die_and_come_back_at_the_same_address() -> None:
    with mcp_servers.http() as process:
        server = McpServer(process.config, QUICK)
        async with Toolbox([], [server]).open() as opened:
            await up(server)
            box = Box(opened)
            waiting = asyncio.create_task(box.run("far__hang", token="lost"))
            while (await box.run("far__begun_tokens")).result != {"result": ["lost"]}:
                pass
            process.kill()
            outcome = await waiting
            assert (outcome.status, outcome.error_code) == ("error", 303)
            down = await box.run("far__add", a=1, b=2)
            assert (down.status, down.error_code) == ("error", 303)
            process.start()
            async with asyncio.timeout(PATIENCE):
                while not (again := await box.run("far__add", a=1, b=2)).success:
                    await server.up.wait()
            assert again.result == {"result": 3}


@both
async def test_a_server_that_speaks_the_protocol_of_before_2026_is_understood(server: str) -> None:
    changed = asyncio.Event()
    with mcp_servers.http() if server == "far" else contextlib.nullcontext() as process:
        config = process.config if process else mcp_servers.stdio()
        async with asyncio.timeout(PATIENCE):
            if process:
                await process.listening()
            async with connect(config, "legacy", on_change=changed.set, on_end=lambda: None) as connection:
                assert "add" in {tool.name for tool in await connection.tools()}
                result = await connection.call("add", {"a": 1, "b": 2}, PATIENCE)
                assert result.structured_content == {"result": 3}
                await connection.call("learn", {"tool": "french"}, PATIENCE)
                await changed.wait()


async def test_a_server_at_a_private_address_is_not_spoken_to_unless_that_is_allowed() -> None:
    with mcp_servers.http() as process:
        await process.listening()
        forbidden = msgspec.structs.replace(process.config, allow_private=False)
        with pytest.raises(ExceptionGroup) as refused:
            async with connect(forbidden, "auto", on_change=lambda: None, on_end=lambda: None):
                pass
    (reason,) = refused.value.exceptions
    assert isinstance(reason, httpx2.ConnectError)
    assert "is a private address" in str(reason)


async def test_a_server_that_talks_nonsense_is_logged_without_its_words_and_its_address() -> None:
    again = asyncio.Queue[bytes]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        again.put_nowait(await reader.readuntil(b"\r\n\r\n"))
        body = b'{"jsonrpc": "2.0", "persimmon": 1}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    with capture_logs() as logged:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            url = f"http://somebody:hunter2@127.0.0.1:{port}/mcp?key=hunter2"
            serving = asyncio.create_task(
                McpServer(HttpServer(name="odd", url=url, allow_private=True), QUICK).serve()
            )
            async with asyncio.timeout(PATIENCE):
                while not any(line["event"] == "MCP server lost" for line in logged):
                    await again.get()
            serving.cancel()
            await asyncio.wait([serving])
    assert any(line["error"] == "MCPError" for line in logged)
    assert "persimmon" not in str(logged)
    assert "hunter2" not in str(logged)


async def test_servers_that_never_come_up_do_not_hold_the_start() -> None:
    servers = [
        McpServer(StdioServer(name="missing", command="/nonexistent/server"), QUICK),
        McpServer(StdioServer(name="mute", command="sleep", args=("1000",)), QUICK),
        McpServer(HttpServer(name="nobody", url="http://127.0.0.1:9/mcp"), QUICK),
    ]
    async with Toolbox([calculator], servers).open() as opened:
        box = Box(opened)
        assert box.names == ["calculator"]
        assert (await box.run("calculator", expression="6 * 7")).success
        assert (await box.run("missing__add", a=1, b=2)).error_code == 301


async def test_a_child_does_not_outlive_the_box() -> None:
    server = McpServer(mcp_servers.stdio(), QUICK)
    async with Toolbox([], [server]).open() as opened:
        await up(server)
        pid = (await Box(opened).run("near__process_id")).result["result"]
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)


async def test_the_tools_of_servers_are_rows_and_go_with_their_server(fresh_database_url: str) -> None:
    async with make_pool(fresh_database_url) as pool, pool.connection() as conn:
        server = McpServer(mcp_servers.stdio(), QUICK)
        async with Toolbox([calculator], [server], pool).open() as opened:
            await up(server)
            async with asyncio.timeout(PATIENCE):
                while "near__add" not in {row.name for row in await rows.tools(conn)}:
                    pass
            await rows.enable_tool(conn, "near__add", enabled=False)
            await opened.refresh()
            assert "near__add" not in Box(opened).names
        # Down is not gone: its tools stay, also in the eyes of a worker that cannot reach it.
        down = McpServer(StdioServer(name="near", command="/nonexistent/server"), QUICK)
        async with Toolbox([calculator], [down], pool).open():
            stored = {row.name: row.enabled for row in await rows.tools(conn)}
            assert stored["near__say"] is True
            assert stored["near__add"] is False
        async with Toolbox([calculator], [], pool).open():
            assert [row.name for row in await rows.tools(conn)] == ["calculator"]

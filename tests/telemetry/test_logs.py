"""What logs leave out, whatever goes wrong."""

import asyncio
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator

import httpx2
import psycopg
import pytest
import structlog

from alicia.llm.chat import ChatModel
from alicia.llm.messages import Tool
from alicia.storage.pool import Pool
from alicia.telemetry import logs
from alicia.tools.decision.decide import Decider
from support import scripted as script
from support.scripted import ScriptedServer

SECRET = "persimmon"

Written = Callable[[], str]


@pytest.fixture(params=["terminal", "file"])
def written(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    """All that is logged, as it would be on a terminal or in a file."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    root, before = logging.getLogger(), structlog.get_config()
    level = root.level
    logs.set_up("debug", terminal=request.param == "terminal")
    # Loggers of modules would keep this stream for the tests that follow.
    structlog.configure(cache_logger_on_first_use=False)
    (handler,) = root.handlers
    yield stream.getvalue
    structlog.configure(**before)
    root.removeHandler(handler)
    root.setLevel(level)
    for name in ("alicia", *logs.TALKATIVE):
        logging.getLogger(name).setLevel(logging.NOTSET)


def log() -> structlog.stdlib.BoundLogger:
    return structlog.stdlib.get_logger("alicia.test")


async def test_requests_are_not_logged_with_what_their_address_holds(
    written: Written, scripted: ScriptedServer
) -> None:
    address = scripted.url.replace("://", f"://user:{SECRET}@")
    async with httpx2.AsyncClient(trust_env=False) as client:
        await client.get(f"{address}/models?key={SECRET}")
    log().info("asked")
    assert "asked" in written()
    assert SECRET not in written()


@pytest.mark.parametrize("name", ["mcp.client.streamable_http", "client"])
def test_the_library_of_mcp_tells_neither_ids_of_sessions_nor_results(written: Written, name: str) -> None:
    logging.getLogger(name).info("Received session ID: %s", SECRET)
    logging.getLogger(name).error("Failed to parse %s", SECRET)
    assert written() == ""


def test_an_exception_is_told_by_its_kind_and_place_without_texts_and_variables(written: Written) -> None:
    held = SECRET

    def inner() -> None:
        raise KeyError(held)

    try:
        try:
            inner()
        except KeyError as error:
            raise ExceptionGroup(held, [ValueError(held), OSError(held)]) from error
    except ExceptionGroup:
        log().exception("broken", message_id="am_1")
        logging.getLogger("library").exception("broken too")
    for part in (
        "am_1",
        "builtins.KeyError",
        "test_logs.py:",
        "in inner",
        "ValueError",
        "in it builtins.OSError",
    ):
        assert written().count(part) >= 1, part
    assert "broken too" in written()
    assert SECRET not in written()


async def test_a_database_error_does_not_quote_the_row(written: Written, pool: Pool) -> None:
    with pytest.raises(psycopg.errors.NotNullViolation) as violated:
        async with pool.connection() as conn:
            await conn.execute("INSERT INTO alicia_conversations (id, title) VALUES (NULL, %s)", (SECRET,))
    assert SECRET in str(violated.value)
    log().error("not stored", exc_info=violated.value)
    assert "psycopg.errors.NotNullViolation" in written()
    assert SECRET not in written()


async def test_a_model_server_that_quotes_the_prompt_is_logged_without_its_words(
    written: Written, scripted: ScriptedServer
) -> None:
    scripted.fail("json", step=script.Fail(400, f"cannot parse: {SECRET}"))
    tool = Tool("weather", "", {"type": "object"})
    async with ChatModel(scripted.url, scripted.model) as model:
        assert await Decider(model).decide(f"The weather in {SECRET}?", [], [tool], {}) is None
    assert "did not take the request" in written()
    assert SECRET not in written()


async def test_a_task_that_nobody_waits_for_is_told_without_its_result(written: Written) -> None:
    handler = asyncio.get_running_loop().default_exception_handler
    handler(
        {"message": "Task exception was never retrieved", "exception": KeyError(SECRET), "future": SECRET}
    )
    handler({"message": f"Exception in callback put('{SECRET}')"})
    assert "Task exception was never retrieved" in written()
    assert "Exception in callback put" in written()
    assert "KeyError" in written()
    assert SECRET not in written()


def test_what_ends_the_process_is_logged_like_any_failure(written: Written) -> None:
    error = ValueError(SECRET)
    sys.excepthook(ValueError, error, None)
    assert "crashed" in written()
    assert "builtins.ValueError" in written()
    assert SECRET not in written()


@pytest.mark.parametrize("written", ["file"], indirect=True)
def test_a_line_of_a_file_is_one_object(written: Written) -> None:
    try:
        raise ValueError(SECRET)
    except ValueError:
        log().exception("broken", conversation_id="ac_1")
    (line,) = written().splitlines()
    told = json.loads(line)
    assert (told["event"], told["level"], told["conversation_id"]) == ("broken", "error", "ac_1")
    assert told["exception"].startswith("builtins.ValueError\n  ")

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUntypedFunctionDecorator=false
"""Whatever is sent: no failure of the server's, and no answer that the description does not promise."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from alicia.api.app import create_app
from alicia.api.limits import Bucket, Limits
from alicia.config import Config, LiveKitServer
from alicia.storage.pool import make_pool
from support.callers import SECRET, bearer
from support.talk import Talk
from support.turns import Turn, whole_turn

FILE = Path(__file__).parents[2] / "docs" / "openapi.json"
USER = "anybody"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
# The same tries in every run: what fails once fails again.
TRIES = settings(
    max_examples=10,
    derandomize=True,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
schema = schemathesis.openapi.from_path(FILE)


@schemathesis.serializer("application/zip")
def as_bytes(_: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


class Served:
    """The API in a thread of its own, since the requests come from this one."""

    def __init__(self, config: Config) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._app = create_app(config)
        self._server = uvicorn.Server(uvicorn.Config(self._app, log_config=None, lifespan="on"))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    def start(self) -> None:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        limits = Limits()
        limits.tokens = limits.writes = limits.archives = Bucket(rate=1e6, burst=10**6)
        self._app.state.services = replace(self._app.state.services, limits=limits)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@pytest.fixture(scope="module")
def served(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    nowhere = LiveKitServer("ws://127.0.0.1:9", "key", SECRET)
    home = tmp_path_factory.mktemp("home")
    opened = Served(Config(home=home, database_url=database_url, livekit=nowhere, auth_secret=SECRET))
    opened.start()
    yield opened
    opened.stop()


@pytest.fixture
def things(database_url: str) -> dict[str, str]:
    """What the paths may name: a turn of this user's."""

    async def make() -> tuple[Talk, Turn]:
        async with make_pool(database_url, max_size=2) as pool:
            talk = await Talk.open(pool, USER)
            return talk, await whole_turn(talk, "xylophone")

    talk, turn = asyncio.run(make())
    return {"conversation_id": talk.id, "message_id": turn.asked, "memory_id": turn.memory}


def check(case: schemathesis.Case[Any], url: str, *left_out: object) -> None:
    answer = case.call(base_url=url, headers=bearer(USER, alicia_admin=True))
    if answer.status_code == 503:
        # Nobody listens where LiveKit should be.
        left_out = (*left_out, not_a_server_error)
    case.validate_response(answer, checks=[each for each in CHECKS if each not in left_out])


@schema.parametrize()
@TRIES
def test_every_call_keeps_its_promises(case: schemathesis.Case[Any], served: Served) -> None:
    check(case, served.url)


@schema.include(path_regex=r"(conversation|message|memory)_id").parametrize()
@TRIES
def test_every_call_keeps_its_promises_about_things_that_are_there(
    case: schemathesis.Case[Any], served: Served, things: dict[str, str]
) -> None:
    case.path_parameters.update({name: things[name] for name in case.path_parameters if name in things})
    # What was wrong with the request may have been the id that is a good one now.
    check(case, served.url, negative_data_rejection)

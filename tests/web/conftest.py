"""A real browser on a real stack, with a model that the test scripts."""

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, expect

from support import ground
from support.browser import OpenTab, Tab, launched
from support.servers import LiveKitServer, PostgresServer
from support.stack import Stack

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"

expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def shared_web(
    tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer, livekit: LiveKitServer
) -> Iterator[Stack]:
    """An API and an agent for one local user, as `alicia up` runs them.

    The database is its own: agents of other stacks would take over what this one's leave unanswered.
    """
    name = f"web_{secrets.token_hex(6)}"
    url = postgres.create(name, template=ground.ask("template")["name"])
    with Stack(tmp_path_factory.mktemp("web"), url, livekit, auth=False) as opened:
        yield opened
    postgres.drop(name)


@pytest.fixture
def web(shared_web: Stack) -> Stack:
    """The worker's stack, with nothing left of what earlier tests scripted."""
    shared_web.model.reset()
    return shared_web


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests."""
    async with launched() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A profile of this test's own: nothing is stored in it yet."""
    # Kept files would hide what a page asks for; the tests of the service worker have a profile of their own.
    opened = await browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block")
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_tab(context: BrowserContext, web: Stack) -> AsyncIterator[OpenTab]:
    """Opens a tab; in the end none may have seen an error, or talked to another host."""
    tabs: list[Tab] = []

    async def open_one(url: str | None = None) -> Tab:
        tabs.append(await Tab.open(context, url or web.url))
        return tabs[-1]

    yield open_one
    assert [tab.faults for tab in tabs] == [[] for _ in tabs]
    assert {host for tab in tabs for host in tab.hosts} <= {"127.0.0.1"}


@pytest_asyncio.fixture(loop_scope="session")
async def api(web: Stack) -> AsyncIterator[httpx2.AsyncClient]:
    """The stack's HTTP interface."""
    async with httpx2.AsyncClient(base_url=f"{web.url}/api/v1") as client:
        yield client


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    return AXE.read_text(encoding="utf-8")

"""Without a server: the page opens, shows what was said, takes what is written, and sends it once."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, expect

from support.browser import Tab
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]

STORED = """words => new Promise(done => {
    indexedDB.open('alicia:local').onsuccess = ({target: {result: database}}) => {
        const look = () => {
            const all = database.transaction('stanzas').objectStore('stanzas').getAll()
            all.onsuccess = () => JSON.stringify(all.result).includes(words) ? done() : look()
        }
        look()
    }
})"""
"""What is shown is stored a moment later."""
KEPT = "async () => (await (await navigator.serviceWorker.ready, caches.keys())).length"


@pytest_asyncio.fixture(loop_scope="session")
async def installed(browser: Browser, web: Stack) -> AsyncIterator[BrowserContext]:
    """A profile whose pages may keep their files."""
    context = await browser.new_context(service_workers="allow")
    yield context
    await context.close()


async def test_the_page_opens_offline_and_sends_once_when_it_is_back(
    web: Stack, installed: BrowserContext
) -> None:
    web.model.say("Said before.", when="Remember this")
    web.model.say("Said after.", when="Written offline", always=True)
    tab = await Tab.open(installed, web.url)
    assert await tab.page.evaluate(KEPT) == 1
    await tab.say("Remember this")
    await expect(tab.answers).to_contain_text("Said before.")
    await tab.page.evaluate(STORED, "Said before.")
    # LiveKit's client would complain of a cut line in the console, as it should.
    await tab.page.goto("about:blank")
    await installed.set_offline(True)
    await tab.page.goto(web.url)
    entry = tab.page.get_by_role("navigation").get_by_role("link", name="Remember this").first
    await entry.click()
    await expect(tab.answers).to_contain_text("Said before.")
    await tab.say("Written offline")
    await expect(tab.status).to_contain_text("You are offline.")
    await expect(tab.questions.last).to_contain_text("Waiting to be sent")
    await tab.page.reload()
    await expect(tab.questions.last).to_contain_text("Waiting to be sent")
    await installed.set_offline(False)
    await expect(tab.answers.last).to_contain_text("Said after.", timeout=30_000)
    await expect(tab.questions).to_have_count(2)
    written = [request for request in web.model.chats if "Written offline" in str(request.json)]
    assert len(written) == 1
    assert tab.faults == []


async def test_rare_parts_of_the_page_open_offline(web: Stack, installed: BrowserContext) -> None:
    tab = await Tab.open(installed, web.url)
    assert await tab.page.evaluate(KEPT) == 1
    await tab.page.reload()
    await installed.set_offline(True)
    await tab.page.get_by_role("link", name="Settings").click()
    await expect(tab.page.get_by_role("radiogroup", name="Theme")).to_be_visible()
    await tab.page.get_by_role("link", name="Memory").click()
    await expect(tab.page.get_by_text("The server does not answer.")).to_be_visible()


async def test_the_page_can_be_installed(web: Stack, installed: BrowserContext) -> None:
    tab = await Tab.open(installed, web.url)
    session: Any = await installed.new_cdp_session(tab.page)
    assert (await session.send("Page.getAppManifest"))["errors"] == []
    faults = (await session.send("Page.getInstallabilityErrors"))["installabilityErrors"]
    # A test's profile is private, and private pages are not installed.
    assert [each for each in faults if each["errorId"] != "in-incognito"] == []

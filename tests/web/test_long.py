"""A conversation of 10,000 messages: opened at its end, read backwards, and found by search."""

import asyncio

import httpx2
import pytest
from playwright.async_api import Browser, BrowserContext, Route, expect

from support.browser import OpenTab, Tab, place
from support.long_history import long_history
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]

COUNT = 10_000
SCROLL = """(element, step) => new Promise(done => {
    const undrawn = each => {
        const [place, view] = [each, element].map(one => one.getBoundingClientRect())
        return place.bottom > view.top && place.top < view.bottom
    }
    const look = () =>
        [...element.querySelectorAll('[data-ids]')].some(undrawn) ? requestAnimationFrame(look) : done()
    element.scrollBy(0, step)
    requestAnimationFrame(look)
})"""
"""A step, as somebody takes it who reads: the next one when there is something to see."""

GROWS_WHEN_SCROLLED = """() => {
    const scrollIntoView = Element.prototype.scrollIntoView
    Element.prototype.scrollIntoView = function (...how) {
        scrollIntoView.apply(this, how)
        const thread = document.querySelector('.thread')
        thread.style.minHeight = `${thread.offsetHeight + 1}px`
    }
}"""
"""As when something is said in the very moment in which the page goes to another place."""


@pytest.fixture(scope="session")
def long_id(shared_web: Stack) -> str:
    return long_history(shared_web.database_url, "local", COUNT)


async def test_it_opens_at_its_end_and_goes_on(web: Stack, open_tab: OpenTab, long_id: str) -> None:
    web.model.say("Still here.")
    tab = await open_tab(f"{web.url}/#{long_id}")
    await expect(tab.answers.last).to_contain_text(f"Answer {COUNT}.")
    await tab.online()
    await tab.say("Are you still there?")
    await expect(tab.answers.last).to_contain_text("Still here.")
    assert await tab.page.locator("[data-id]").count() < 100
    await tab.page.reload()
    await expect(tab.answers.last).to_contain_text("Still here.")


async def test_older_messages_come_while_scrolling_and_what_is_read_stays_in_place(
    web: Stack, open_tab: OpenTab, long_id: str
) -> None:
    tab = await open_tab(f"{web.url}/#{long_id}")
    await expect(tab.answers.last).to_be_visible()
    scroller = tab.page.get_by_role("region", name="Messages")
    for target in (COUNT - 150, COUNT - 400):
        question = tab.questions.get_by_text(f"Question {target + 1}", exact=True)
        while not await question.count():
            await scroller.evaluate(SCROLL, -700)
        await expect(question).to_be_attached()
    await question.scroll_into_view_if_needed()
    # What came into view by that leap is drawn first: browsers hold a place only for who scrolls by hand.
    await scroller.evaluate(SCROLL, 0)
    before = await place(question)
    await scroller.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    assert abs(await place(question) - before) < 2
    assert await tab.page.locator("[data-id]").count() < 100
    await tab.click("To the newest message")
    await expect(tab.page.get_by_role("button", name="To the newest message")).to_have_count(0)


@pytest.mark.parametrize("distance", [0, 20])
async def test_what_is_read_at_the_top_stays_in_place_when_older_messages_come(
    web: Stack, open_tab: OpenTab, context: BrowserContext, long_id: str, distance: int
) -> None:
    arrived = asyncio.Event()

    async def wait(route: Route) -> None:
        await arrived.wait()
        await route.continue_()

    await context.route("**/messages?*before=*", wait)
    # Whatever an agent said meanwhile would have the page measured anew.
    await context.route("**/tokens", lambda route: route.fulfill(status=403))
    tab = await open_tab(f"{web.url}/#{long_id}")
    await expect(tab.answers.last).to_be_visible()
    scroller = tab.page.get_by_role("region", name="Messages")
    while await scroller.evaluate("element => element.scrollTop"):
        await scroller.evaluate(SCROLL, -700)
    await scroller.evaluate(SCROLL, distance)
    number = int((await tab.questions.first.inner_text()).split()[-1])
    first, older = (tab.questions.get_by_text(f"Question {n}", exact=True) for n in (number, number - 12))
    before = await place(first)
    arrived.set()
    await expect(older).to_be_attached()
    assert abs(await place(first) - before) < 2


async def test_notes_on_old_messages_are_shown_in_a_browser_that_never_saw_them_written(
    web: Stack, open_tab: OpenTab, long_id: str, browser: Browser
) -> None:
    tab = await open_tab(f"{web.url}/#{long_id}")
    await tab.online()
    answer = tab.answers.last
    await tab.click("Add a note", answer)
    field = tab.page.get_by_label("Your note", exact=True)
    await field.fill("Worth keeping.")
    await field.press("Enter")
    await expect(answer.get_by_role("list", name="Your notes")).to_have_text("Worth keeping.")
    other = await browser.new_context(service_workers="block")
    elsewhere = await Tab.open(other, tab.page.url)
    await expect(elsewhere.answers.last.get_by_role("list", name="Your notes")).to_have_text("Worth keeping.")
    await other.close()


async def test_a_search_leads_far_back_whatever_comes_meanwhile(
    web: Stack, open_tab: OpenTab, context: BrowserContext, long_id: str, api: httpx2.AsyncClient
) -> None:
    page = (await api.get(f"/conversations/{long_id}/messages", params={"limit": 200})).json()
    for _ in range(3):
        before = {"limit": 200, "before": page["next"]}
        page = (await api.get(f"/conversations/{long_id}/messages", params=before)).json()
    wanted = page["items"][0]
    await context.add_init_script(f"({GROWS_WHEN_SCROLLED})()")
    tab = await open_tab(f"{web.url}/#{long_id}/{wanted['id']}")
    message = tab.page.locator(f'[data-id="{wanted["id"]}"]')
    await expect(message).to_be_in_viewport()
    await expect(message).to_contain_text(wanted["content"].split(".")[0])

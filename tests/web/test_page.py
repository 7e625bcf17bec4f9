"""The page itself: for everybody, on every width, small, and honest when something is missing."""

import re
import signal

import pytest
from playwright.async_api import Browser, BrowserContext, expect

from support.browser import RICH, OpenTab, Tab
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]

FIRST_LOAD_BYTES = 350_000


@pytest.mark.parametrize("width", [360, 1440])
async def test_nothing_is_wider_than_the_page(browser: Browser, web: Stack, width: int) -> None:
    web.model.say(f"{RICH}\n\n{'averyveryverylongword' * 12}\n\n`{'anunbroken_name' * 9}`")
    context = await browser.new_context(viewport={"width": width, "height": 740})
    tab = await Tab.open(context, web.url)
    await tab.say("y" * 200)
    await expect(tab.answers).to_contain_text("averyvery")
    wide: list[str] = await tab.page.evaluate(
        """() => [...document.querySelectorAll('main, main > *, .thread, .thread > *, .prose, .prose > *')]
            .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
            .map(each => each.className || each.tagName)"""
    )
    assert wide == []
    await context.close()


async def test_the_first_load_is_small_and_its_scripts_are_its_own(open_tab: OpenTab) -> None:
    tab = await open_tab()
    # Typing brings the rest: LiveKit's client.
    async with tab.page.expect_response(re.compile("livekit")) as rest:
        await tab.field.press_sequentially("a")
    await (await rest.value).finished()
    sizes: dict[str, int] = await tab.page.evaluate(
        """() => Object.fromEntries([...performance.getEntriesByType('navigation'),
            ...performance.getEntriesByType('resource')].map(each => [each.name, each.encodedBodySize]))"""
    )
    assert any("livekit" in name for name in sizes)
    # How much there is to list is another matter, and other tests add to it.
    assert sum(size for name, size in sizes.items() if "/api/" not in name) <= FIRST_LOAD_BYTES
    assert await tab.page.locator("script:not([src])").count() == 0


async def test_the_whole_page_can_be_used_by_keyboard(web: Stack, open_tab: OpenTab) -> None:
    web.model.say("Pressed, not clicked.")
    tab = await open_tab()
    await expect(tab.field).to_be_focused()
    await tab.page.keyboard.type("One line")
    await tab.page.keyboard.press("Shift+Enter")
    await tab.page.keyboard.type("and another")
    await tab.page.keyboard.press("Enter")
    await expect(tab.questions.locator(".bubble")).to_have_text("One line\nand another", use_inner_text=True)
    await expect(tab.answers).to_contain_text("Pressed, not clicked.")
    await expect(tab.page.locator("[aria-live=polite] p")).to_have_text(["Pressed, not clicked."])
    await expect(tab.field).to_be_focused()


async def test_the_theme_can_be_chosen_and_is_kept(open_tab: OpenTab) -> None:
    tab = await open_tab()
    background = "getComputedStyle(document.body).backgroundColor"
    light = await tab.page.evaluate(background)
    await tab.click("Theme: as the system")
    await tab.click("Theme: light")
    dark = await tab.page.evaluate(background)
    assert dark != light
    await tab.page.reload()
    await expect(tab.field).to_be_visible()
    assert await tab.page.evaluate(background) == dark


async def test_nothing_moves_for_those_who_want_no_motion(web: Stack, open_tab: OpenTab) -> None:
    held = web.model.hold("At last.")
    tab = await open_tab()
    await tab.page.emulate_media(reduced_motion="reduce")
    await tab.say("Think about it.")
    await expect(tab.answers).to_contain_text("Thinking…")
    longest: float = await tab.page.evaluate(
        """() => Math.max(0, ...document.getAnimations()
            .map(each => each.effect.getComputedTiming().activeDuration))"""
    )
    assert longest <= 1
    held.release_all()
    await expect(tab.answers).to_contain_text("At last.")


async def test_without_an_agent_the_page_says_so_and_sends_when_one_comes(
    web: Stack, open_tab: OpenTab
) -> None:
    web.model.say("The first agent.", when="One")
    web.model.say("The second agent.", when="Two")
    tab = await open_tab()
    await tab.say("One")
    await expect(tab.answers).to_contain_text("The first agent.")
    web.agent.end(signal.SIGTERM)
    await tab.say("Two")
    await expect(tab.status).to_contain_text("Alicia is not in the room.")
    await expect(tab.questions.last).to_contain_text("Waiting to be sent")
    web.start_agent()
    await expect(tab.answers.last).to_contain_text("The second agent.", timeout=30_000)
    await tab.online()
    await expect(tab.questions).to_have_count(2)
    assert len(web.model.chats) == 2


async def test_a_server_that_asks_for_tokens_gets_one(
    stack: Stack, user: str, context: BrowserContext
) -> None:
    stack.model.say("Welcome.", when="Hello.")
    page = await context.new_page()
    await page.goto(stack.url)
    tab = Tab(page, stack.url)
    token = page.get_by_label("Your token")
    await token.fill("not a token")
    await token.press("Enter")
    await expect(page.get_by_role("alert")).to_have_text("This token is not valid here.")
    await token.fill(stack.token(user))
    await token.press("Enter")
    await tab.say("Hello.")
    await expect(tab.answers).to_contain_text("Welcome.")
    await page.get_by_role("link", name="Settings").click()
    await tab.click("Sign out")
    await expect(token).to_be_visible()
    await page.reload()
    await expect(token).to_be_visible()

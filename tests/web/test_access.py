"""For everybody: axe looks at every view, in light and in dark, on a phone's width and on a desk's."""

import secrets

import httpx2
import pytest
from playwright.async_api import BrowserContext, Locator, expect

from support.browser import RICH, WIDTHS, OpenTab, Tab
from support.scripted import Fail, Reasoning, Script, Text, ToolCall
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]

NARROW, WIDE = WIDTHS
NO_MICROPHONE = """() => {
    navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError') }
}"""


async def fits(tab: Tab) -> bool:
    """Whether nothing is wider than the page."""
    return await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_conversation_from_its_welcome_to_its_branches(
    web: Stack, open_tab: OpenTab, axe: str
) -> None:
    held = web.model.hold("The first sentence is here. The second one follows it.", when="slowly")
    web.model.chat(Script(Reasoning("Let me think."), Text(RICH)), when="everything", always=True)
    tab = await open_tab()
    assert await tab.axe(axe) == []
    await tab.say("Say it slowly.")
    await expect(tab.answers).to_contain_text("Thinking…")
    assert await tab.axe(axe) == []
    held.release(7)
    await expect(tab.answers).to_contain_text("The first sentence")
    assert await tab.axe(axe) == []
    await tab.page.keyboard.press("Escape")
    await expect(tab.answers).to_contain_text("You stopped this answer here.")
    await tab.say("Show me everything.")
    await expect(tab.page.locator(".hljs-comment")).to_be_visible()
    await expect(tab.page.locator("math")).to_be_visible()
    await tab.click("Answer again", tab.answers.last)
    await expect(tab.answers.last).to_contain_text("2 / 2")
    await tab.click("Add a note", tab.answers.last)
    assert await tab.axe(axe) == []
    await tab.page.get_by_label("Your note", exact=True).fill("A note.")
    await tab.page.get_by_label("Your note", exact=True).press("Enter")
    await expect(tab.answers.last.get_by_role("list", name="Your notes")).to_be_visible()
    await tab.questions.last.hover()
    await tab.click("Edit", tab.questions.last)
    assert await tab.axe(axe) == []
    assert await fits(tab)


async def test_why_an_answer_was_given(
    web: Stack, open_tab: OpenTab, axe: str, api: httpx2.AsyncClient
) -> None:
    memory = {"content": "Counts in dozens.", "memoryType": "preference"}
    (memory_id,) = (await api.post("/memories", json=memory)).raise_for_status().json()["ids"]
    web.model.chat(Script(Reasoning("In dozens, then."), ToolCall("calculator", {"expression": "6 * 12"})))
    web.model.say("It is 72.")
    tab = await open_tab()
    await tab.say("How much is six dozens?")
    await expect(tab.answers).to_contain_text("It is 72.")
    await tab.answers.get_by_role("button", name="Why").click()
    why = tab.page.get_by_role("region", name="Why this answer")
    await expect(why.locator(".waterfall")).to_be_visible()
    await expect(why.locator(".memory")).to_be_visible()
    await expect(why.locator(".tool")).to_be_visible()
    assert await tab.axe(axe) == []
    assert await fits(tab)
    await tab.page.route("**/trace", lambda route: route.abort())
    await tab.answers.get_by_role("button", name="Why").click()
    await tab.answers.get_by_role("button", name="Why").click()
    await expect(why).to_contain_text("The details could not be loaded.")
    assert await tab.axe(axe) == []
    (await api.delete(f"/memories/{memory_id}")).raise_for_status()


async def test_the_list_its_search_and_what_was_put_away(web: Stack, open_tab: OpenTab, axe: str) -> None:
    title = f"About {secrets.token_hex(4)}"
    web.model.say("So be it.", always=True)
    tab = await open_tab()
    await tab.say(title)
    await expect(tab.answers).to_contain_text("So be it.")
    entry = tab.page.get_by_role("navigation").get_by_role("link", name=title, exact=True)
    await expect(entry).to_be_visible()
    await entry.hover()
    await tab.click(f"More for {title}")
    assert await tab.axe(axe, WIDE) == []
    await tab.page.get_by_role("menuitem", name="Rename").click()
    assert await tab.axe(axe, WIDE) == []
    await tab.page.keyboard.press("Escape")
    search = tab.page.get_by_label("Search in conversations")
    for words, found in ((title, "1 found"), ("qqqqqqqq", "Nothing found")):
        await search.fill(words)
        await expect(tab.page.get_by_role("region", name="Found")).to_contain_text(found)
        assert await tab.axe(axe, WIDE) == []
        await with_list(tab, axe)
    await search.fill("")
    await entry.hover()
    await tab.click(f"More for {title}")
    await tab.page.get_by_role("menuitem", name="Archive").click()
    await expect(tab.page.get_by_role("button", name="Undo")).to_be_visible()
    assert await tab.axe(axe) == []
    await tab.page.get_by_role("button", name="Archived (").click()
    await expect(entry).to_be_visible()
    assert await tab.axe(axe, WIDE) == []
    await with_list(tab, axe)


async def with_list(tab: Tab, axe: str) -> None:
    """On a phone the list lies over the conversation."""
    await tab.page.set_viewport_size({"width": NARROW, "height": 800})
    await tab.click("Conversations")
    assert await tab.axe(axe, NARROW) == []
    await tab.click("Close the list", tab.page.get_by_role("navigation"))
    await tab.page.set_viewport_size({"width": WIDE, "height": 800})


def card(tab: Tab, content: str) -> Locator:
    return tab.page.get_by_role("listitem").filter(has_text=content)


async def test_what_is_remembered(web: Stack, open_tab: OpenTab, axe: str, api: httpx2.AsyncClient) -> None:
    content = f"The spare key {secrets.token_hex(3)} hangs in the shed."
    memory = {"content": content, "memoryType": "fact", "tags": ["home"], "pinned": True}
    (memory_id,) = (await api.post("/memories", json=memory)).raise_for_status().json()["ids"]
    tab = await open_tab()
    await tab.page.get_by_role("link", name="Memory").click()
    await tab.click("Where from, where used", card(tab, content))
    await expect(tab.page.get_by_text("Not used for an answer yet.")).to_be_visible()
    assert await tab.axe(axe) == []
    assert await fits(tab)
    for width in WIDTHS:
        # A menu closes when the page changes under it.
        await tab.page.set_viewport_size({"width": width, "height": 800})
        await tab.click("More", card(tab, content))
        await expect(tab.page.get_by_role("menu")).to_be_visible()
        assert await tab.axe(axe, width) == []
        await tab.page.keyboard.press("Escape")
    await tab.click("More", card(tab, content))
    await tab.page.get_by_role("menuitem", name="Edit").click()
    await expect(tab.page.get_by_label("Edit this memory")).to_be_focused()
    assert await tab.axe(axe) == []
    await tab.page.keyboard.press("Escape")
    await tab.click("Add a memory")
    assert await tab.axe(axe) == []
    await tab.page.keyboard.press("Escape")
    async with tab.page.expect_file_chooser() as chosen:
        await tab.click("Add a document")
    await (await chosen.value).set_files(
        {"name": "empty.bin", "mimeType": "application/octet-stream", "buffer": b"\0\1\2"}
    )
    await expect(tab.page.locator(".toasts p")).to_be_visible()
    await tab.page.get_by_label("Search in memories").fill(content)
    await expect(tab.page.get_by_role("region", name="Best first")).to_contain_text("% match")
    assert await tab.axe(axe) == []
    await tab.page.get_by_label("Search in memories").fill("")
    await tab.page.get_by_role("switch", name="Memory").click()
    await expect(tab.page.get_by_text("Memory is off")).to_be_visible()
    await tab.click("Show archived")
    await expect(tab.page.get_by_text("Nothing is archived.")).to_be_visible()
    assert await tab.axe(axe) == []
    (await api.patch("/settings", json={"memory": True})).raise_for_status()
    (await api.delete(f"/memories/{memory_id}")).raise_for_status()


async def test_the_settings_and_the_last_question_before_erasing(
    web: Stack, open_tab: OpenTab, axe: str
) -> None:
    tab = await open_tab()
    await tab.page.route("**/voices", lambda route: route.abort())
    await tab.page.get_by_role("link", name="Settings").click()
    await expect(tab.page.get_by_role("switch", name="calculator")).to_be_visible()
    assert await tab.axe(axe) == []
    assert await fits(tab)
    await tab.page.get_by_role("combobox", name="Voice", exact=True).select_option("Another…")
    assert await tab.axe(axe) == []
    await tab.page.keyboard.press("Escape")
    await tab.click("Erase…")
    await tab.page.get_by_label("This can’t be undone.").fill("erase everything")
    assert await tab.axe(axe) == []
    await tab.page.route("**/me", lambda route: route.abort())
    await tab.click("Erase everything")
    await expect(tab.page.get_by_text("Nothing was changed.")).to_be_visible()
    assert await tab.axe(axe) == []


async def test_signing_in(stack: Stack, context: BrowserContext, axe: str) -> None:
    page = await context.new_page()
    await page.goto(stack.url)
    tab = Tab(page, stack.url)
    token = page.get_by_label("Your token")
    await expect(token).to_be_visible()
    assert await tab.axe(axe) == []
    await token.fill("not a token")
    await token.press("Enter")
    await expect(page.get_by_role("alert")).to_be_visible()
    assert await tab.axe(axe) == []


async def test_when_something_is_missing(web: Stack, context: BrowserContext, axe: str) -> None:
    web.model.fail(times=10, step=Fail(400))
    # LiveKit's client complains of a cut line in the console, as it should.
    tab = await Tab.open(context, web.url)
    await tab.say("Are you well?")
    await expect(tab.answers.get_by_role("alert")).to_be_visible()
    assert await tab.axe(axe) == []
    await tab.page.context.set_offline(True)
    await tab.click("New conversation", tab.page.get_by_role("navigation"))
    await tab.say("Is anybody there?")
    await expect(tab.status).to_contain_text("You are offline.")
    await expect(tab.questions.last).to_contain_text("Waiting to be sent")
    assert await tab.axe(axe) == []
    # First, or what waits would be sent, and answered in another test.
    await tab.page.route("**/api/**", lambda route: route.abort())
    await tab.page.context.set_offline(False)
    for place in ("memory", "settings"):
        await tab.page.evaluate("place => { location.hash = place }", place)
        await expect(tab.page.get_by_text("The server does not answer.").first).to_be_visible()
        assert await tab.axe(axe) == []


async def test_when_the_microphone_is_refused(open_tab: OpenTab, axe: str) -> None:
    tab = await open_tab()
    await tab.page.evaluate(NO_MICROPHONE)
    await tab.click("Speak")
    await expect(tab.page.get_by_role("alert")).to_contain_text("The microphone is blocked.")
    assert await tab.axe(axe) == []
    assert await fits(tab)

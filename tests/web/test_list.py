"""The list of conversations: found, renamed, put away, taken back, and saved as a file."""

import re
import secrets
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Locator, expect

from support.browser import OpenTab, Tab
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]


def entry(tab: Tab, title: str) -> Locator:
    return tab.page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


async def choose(tab: Tab, title: str, what: str) -> None:
    await entry(tab, title).hover()
    await tab.click(f"More for {title}")
    await tab.page.get_by_role("menuitem", name=what).click()


async def begun(web: Stack, open_tab: OpenTab, answer: str = "So be it.") -> tuple[Tab, str]:
    """A tab with a conversation whose title is nobody else's."""
    title = f"About {secrets.token_hex(4)}"
    web.model.say(answer)
    tab = await open_tab()
    await tab.say(title)
    await expect(tab.answers).to_contain_text(answer)
    await expect(entry(tab, title)).to_be_visible()
    return tab, title


async def test_a_search_finds_what_was_said_and_leads_to_it(web: Stack, open_tab: OpenTab) -> None:
    word = f"zebra{secrets.token_hex(3)}"
    tab, title = await begun(web, open_tab, f"A {word} has stripes.")
    message = await tab.answers.get_attribute("data-id")
    await tab.click("New conversation", tab.page.get_by_role("navigation"))
    search = tab.page.get_by_label("Search in conversations")
    await search.fill(word)
    found = tab.page.get_by_role("region", name="Found").get_by_role("link")
    await expect(found).to_have_count(1)
    await expect(found).to_contain_text(title)
    await expect(found.locator("mark")).to_have_text(word)
    await found.click()
    await expect(tab.answers).to_contain_text("has stripes")
    await expect(tab.page.locator(f'[data-id="{message}"].found')).to_be_visible()
    await search.press("Escape")
    await expect(entry(tab, title)).to_be_visible()
    await search.fill("qqqqqqqq")
    await expect(tab.page.get_by_role("region", name="Found")).to_contain_text("Nothing found")


async def test_a_conversation_can_be_renamed_and_every_tab_hears_of_it(web: Stack, open_tab: OpenTab) -> None:
    tab, title = await begun(web, open_tab)
    other = await open_tab(tab.page.url)
    await other.online()
    await choose(tab, title, "Rename")
    field = tab.page.get_by_label("New title")
    await expect(field).to_be_focused()
    await field.fill(f"{title}, renamed")
    await field.press("Enter")
    for each in (tab, other):
        await expect(each.page.get_by_role("heading", level=1)).to_have_text(f"{title}, renamed")


async def test_a_deleted_conversation_can_be_taken_back(
    web: Stack, open_tab: OpenTab, api: httpx2.AsyncClient
) -> None:
    tab, title = await begun(web, open_tab)
    conversation_id = tab.conversation_id
    await choose(tab, title, "Delete")
    await expect(entry(tab, title)).to_have_count(0)
    # It stays as long as somebody points at it.
    await tab.page.get_by_text("Conversation deleted.").hover()
    await expect(tab.page.get_by_role("heading", name="What is on your mind?")).to_be_visible()
    assert (await api.get(f"/conversations/{conversation_id}")).json()["status"] == "deleted"
    await tab.click("Undo")
    await entry(tab, title).click()
    await expect(tab.answers).to_contain_text("So be it.")
    assert (await api.get(f"/conversations/{conversation_id}")).json()["status"] == "active"


async def test_nothing_of_a_deleted_conversation_stays_in_the_browser(web: Stack, open_tab: OpenTab) -> None:
    tab, title = await begun(web, open_tab)
    conversation_id = tab.conversation_id
    await choose(tab, title, "Delete")
    # That is said when the browser has noted it; the list is quicker.
    await expect(tab.page.get_by_text("Conversation deleted.")).to_be_visible()
    await tab.page.reload()
    await expect(tab.field).to_be_visible()
    held = """id => new Promise(resolve => {
        const opening = indexedDB.open('alicia:local')
        opening.onsuccess = () => {
            const store = opening.result.transaction('stanzas').objectStore('stanzas')
            const counting = store.count(IDBKeyRange.bound([id, 0], [id, Infinity]))
            counting.onsuccess = () => resolve(counting.result)
        }
    })"""
    assert await tab.page.evaluate(held, conversation_id) == 0


async def test_an_archived_conversation_leaves_the_list_and_comes_back(web: Stack, open_tab: OpenTab) -> None:
    tab, title = await begun(web, open_tab)
    await choose(tab, title, "Archive")
    await expect(entry(tab, title)).to_have_count(0)
    await tab.page.get_by_role("button", name=re.compile("^Archived")).click()
    await choose(tab, title, "Put back")
    await expect(entry(tab, title)).to_have_count(0)
    await tab.click("All conversations")
    await expect(entry(tab, title)).to_be_visible()


async def test_a_conversation_can_be_saved_as_a_file(web: Stack, open_tab: OpenTab, tmp_path: Path) -> None:
    tab, title = await begun(web, open_tab)
    async with tab.page.expect_download() as saved:
        await choose(tab, title, "Export")
    file = await saved.value
    assert file.suggested_filename == f"{title.replace(' ', '-')}.md"
    await file.save_as(tmp_path / "saved.md")
    text = (tmp_path / "saved.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {title}\n\n**You** · ")
    assert text.endswith("So be it.\n\n")


async def test_the_menu_can_be_used_by_keyboard(web: Stack, open_tab: OpenTab) -> None:
    tab, title = await begun(web, open_tab)
    await entry(tab, title).focus()
    await tab.page.keyboard.press("Tab")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("menuitem", name="Rename")).to_be_focused()
    await tab.page.keyboard.press("ArrowUp")
    await expect(tab.page.get_by_role("menuitem", name="Delete")).to_be_focused()
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.get_by_role("menu")).to_have_count(0)
    await expect(tab.page.get_by_role("button", name=f"More for {title}")).to_be_focused()

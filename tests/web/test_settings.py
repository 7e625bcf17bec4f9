"""Settings: how Alicia speaks, what she may use, and what becomes of the user's data."""

import zipfile
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Browser, BrowserContext, expect

from support.browser import OpenTab, Tab
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]


async def opened(open_tab: OpenTab) -> Tab:
    tab = await open_tab()
    await tab.page.get_by_role("link", name="Settings").click()
    await expect(tab.page.get_by_role("heading", name="Voice")).to_be_visible()
    return tab


async def test_what_is_chosen_is_the_servers_and_another_device_shows_it(
    open_tab: OpenTab, browser: Browser, api: httpx2.AsyncClient
) -> None:
    context = await browser.new_context(service_workers="block")
    other = await Tab.open(context, (await opened(open_tab)).url)
    await other.page.get_by_role("link", name="Settings").click()
    await expect(other.page.get_by_label("Language")).to_have_value("")
    tab = await opened(open_tab)
    await tab.page.get_by_role("combobox", name="Voice", exact=True).select_option("heart")
    await tab.page.get_by_label("Speed").fill("1.5")
    await tab.page.get_by_label("Speed").press("ArrowRight")
    await tab.page.get_by_label("Language").select_option("de")
    await tab.page.get_by_role("switch", name="Keep recordings").click()
    await expect(tab.page.get_by_role("switch", name="Keep recordings")).not_to_be_checked()
    wanted = {"voice": "heart", "speed": 1.6, "language": "de", "recording": False}
    assert (await api.get("/settings")).json() | wanted == (await api.get("/settings")).json()
    # Whoever opens the page of settings sees what they are now.
    await other.page.get_by_role("link", name="Memory").click()
    await expect(other.page.get_by_role("heading", name="What Alicia knows")).to_be_visible()
    await other.page.get_by_role("link", name="Settings").click()
    await expect(other.page.get_by_label("Language")).to_have_value("de")
    await expect(other.page.get_by_role("combobox", name="Voice", exact=True)).to_have_value("heart")
    await expect(other.page.locator(".slider output")).to_have_text("1.6 ×")
    await expect(other.page.get_by_role("switch", name="Keep recordings")).not_to_be_checked()
    await context.close()
    (await api.patch("/settings", json=dict.fromkeys(wanted))).raise_for_status()


async def test_a_voice_that_the_server_does_not_tell_of_can_be_named(
    open_tab: OpenTab, api: httpx2.AsyncClient
) -> None:
    tab = await open_tab()
    told = {"items": [{"name": "nova"}, {"name": "fable"}], "next": None, "others": True}
    await tab.page.route("**/voices", lambda route: route.fulfill(json=told))
    await tab.page.get_by_role("link", name="Settings").click()
    voice = tab.page.get_by_role("combobox", name="Voice", exact=True)
    await expect(voice.get_by_role("option")).to_have_text(["Default", "nova", "fable", "Another…"])
    await voice.select_option("Another…")
    name = tab.page.get_by_label("Name of the voice")
    await expect(name).to_be_focused()
    await name.fill("af_sky")
    await name.press("Enter")
    await expect(voice).to_have_value("af_sky")
    assert (await api.get("/settings")).json()["voice"] == "af_sky"
    await voice.select_option("Default")
    await expect(voice.get_by_role("option")).to_have_count(4)
    assert (await api.get("/settings")).json()["voice"] is None


async def test_a_tool_can_be_switched_off(open_tab: OpenTab, api: httpx2.AsyncClient) -> None:
    tab = await opened(open_tab)
    switch = tab.page.get_by_role("switch", name="calculator")
    await expect(switch).to_be_checked()
    await switch.click()
    await expect(switch).not_to_be_checked()
    tools = {each["name"]: each["enabled"] for each in (await api.get("/tools")).json()["items"]}
    assert tools["calculator"] is False
    await switch.click()
    await expect(switch).to_be_checked()


async def test_everything_can_be_taken_away_and_brought_back(open_tab: OpenTab, tmp_path: Path) -> None:
    tab = await opened(open_tab)
    async with tab.page.expect_download() as saved:
        await tab.page.get_by_role("link", name="Download").click()
    archive = tmp_path / "alicia.zip"
    await (await saved.value).save_as(archive)
    assert "alicia_conversations.jsonl" in zipfile.ZipFile(archive).namelist()
    async with tab.page.expect_file_chooser() as chosen:
        await tab.click("Choose a file")
    await (await chosen.value).set_files(archive)
    await expect(tab.page.get_by_text("All of it was here already.")).to_be_visible()
    async with tab.page.expect_file_chooser() as chosen:
        await tab.click("Choose a file")
    other = tmp_path / "other.zip"
    other.write_bytes(b"no archive")
    await (await chosen.value).set_files(other)
    await expect(tab.page.get_by_text("This is no archive of Alicia's")).to_be_visible()


async def test_erasing_everything_needs_the_words_and_leaves_nothing(
    stack: Stack, user: str, context: BrowserContext
) -> None:
    stack.model.say("A secret answer.", when="A secret question.")
    page = await context.new_page()
    await page.goto(stack.url)
    tab = Tab(page, stack.url)
    await page.get_by_label("Your token").fill(stack.token(user))
    await page.get_by_label("Your token").press("Enter")
    await tab.say("A secret question.")
    await expect(tab.answers).to_contain_text("A secret answer.")
    await page.get_by_role("link", name="Settings").click()
    await expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    await tab.click("Erase…")
    button = page.get_by_role("button", name="Erase everything")
    field = page.get_by_label("This can’t be undone.")
    await expect(field).to_be_focused()
    await field.fill("erase")
    await expect(button).to_be_disabled()
    await field.fill("Erase everything")
    await button.click()
    await expect(page.get_by_role("heading", name="What is on your mind?")).to_be_visible()
    await expect(page.get_by_text("Your conversations will be listed here.")).to_be_visible()
    async with stack.caller(user) as api:
        assert (await api.get("/conversations")).json()["items"] == []
    names: list[str] = await page.evaluate("async () => (await indexedDB.databases()).map(({name}) => name)")
    assert names == [f"alicia:{user}"]
    held: int = await page.evaluate(
        """name => new Promise(resolve => {
            indexedDB.open(name).onsuccess = ({target: {result: database}}) => {
                database.transaction('stanzas').objectStore('stanzas').count().onsuccess = ({target}) =>
                    resolve(target.result)
            }
        })""",
        f"alicia:{user}",
    )
    assert held == 0

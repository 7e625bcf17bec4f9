"""Why an answer was given: what was remembered, what was used, and how the time was spent."""

import httpx2
import pytest
from playwright.async_api import expect

from support.browser import OpenTab
from support.scripted import Reasoning, Script, Text, ToolCall
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]


async def test_why_shows_memories_with_scores_thoughts_and_a_waterfall(
    web: Stack, open_tab: OpenTab, api: httpx2.AsyncClient
) -> None:
    memory = {"content": "Is allergic to hazelnuts.", "memoryType": "fact"}
    (memory_id,) = (await api.post("/memories", json=memory)).raise_for_status().json()["ids"]
    web.model.chat(Script(Reasoning("No nuts, then."), Text("Have an apple. They are in season.")))
    tab = await open_tab()
    await tab.say("Which snack without hazelnuts shall I have?")
    await tab.answers.get_by_role("button", name="Why · 1 memory · thoughts").click()
    why = tab.page.get_by_role("region", name="Why this answer")
    await expect(why.get_by_role("link", name="Is allergic to hazelnuts.")).to_have_attribute(
        "href", f"#memory/{memory_id}"
    )
    await expect(why.locator(".memory")).to_contain_text("% match")
    await expect(why.locator(".memory")).to_contain_text("meaning")
    await expect(why).to_contain_text("No nuts, then.")
    stages = why.locator(".waterfall .name")
    await expect(stages).to_have_text(["Remembered", "First token", "Thought", "Sentences"])
    (await api.delete(f"/memories/{memory_id}")).raise_for_status()


async def test_why_shows_what_a_tool_was_asked_and_what_it_said(web: Stack, open_tab: OpenTab) -> None:
    web.model.chat(Script(ToolCall("calculator", {"expression": "6 * 7"})))
    web.model.say("It is 42.")
    tab = await open_tab()
    await tab.say("What is six times seven?")
    await expect(tab.answers).to_contain_text("It is 42.")
    await tab.answers.get_by_role("button", name="Why · 1 tool").click()
    tool = tab.page.get_by_role("region", name="Why this answer").locator(".tool")
    await expect(tool).to_contain_text("calculator done")
    await expect(tool.get_by_label("Asked")).to_contain_text("6 * 7")
    await expect(tool.get_by_label("Answered")).to_contain_text("42")
    stages = tab.page.locator(".waterfall .name")
    await expect(stages).to_have_text(["Remembered", "calculator", "First token", "Sentences"])


async def test_why_shows_what_came_with_the_answer_while_the_server_is_away(
    web: Stack, open_tab: OpenTab
) -> None:
    web.model.chat(Script(Reasoning("Easy."), Text("Four.")))
    tab = await open_tab()
    await tab.say("Two and two?")
    await expect(tab.answers).to_contain_text("Four.")
    await tab.page.route("**/trace", lambda route: route.abort())
    await tab.answers.get_by_role("button", name="Why").click()
    why = tab.page.get_by_role("region", name="Why this answer")
    await expect(why).to_contain_text("Easy.")
    await expect(why).to_contain_text("The details could not be loaded.")
    await tab.page.unroute("**/trace")
    await tab.click("Try again", why)
    await expect(why.locator(".waterfall")).to_be_visible()

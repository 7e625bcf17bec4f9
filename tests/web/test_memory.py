"""What Alicia knows: found, corrected, rated, put away, taken back, and traced."""

import json
import secrets
from collections.abc import AsyncIterator
from typing import NamedTuple

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import FilePayload, Locator, expect

from support.browser import OpenTab, Tab
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]


class Known(NamedTuple):
    """A memory that no other test has."""

    id: str
    content: str


@pytest_asyncio.fixture(loop_scope="session")
async def known(api: httpx2.AsyncClient) -> AsyncIterator[Known]:
    content = f"The spare key {secrets.token_hex(3)} hangs in the shed."
    memory = {"content": content, "memoryType": "fact", "tags": ["home"]}
    (memory_id,) = (await api.post("/memories", json=memory)).raise_for_status().json()["ids"]
    yield Known(memory_id, content)
    await api.delete(f"/memories/{memory_id}")


def card(tab: Tab, content: str) -> Locator:
    return tab.page.get_by_role("listitem").filter(has_text=content)


async def opened(web: Stack, open_tab: OpenTab) -> Tab:
    tab = await open_tab()
    await tab.page.get_by_role("link", name="Memory").click()
    await expect(tab.page.get_by_role("heading", name="What Alicia knows")).to_be_visible()
    await expect(tab.page.get_by_text("Loading…")).to_have_count(0)
    return tab


async def choose(tab: Tab, content: str, what: str) -> None:
    await tab.click("More", card(tab, content))
    await tab.page.get_by_role("menuitem", name=what).click()


async def test_a_corrected_memory_changes_the_next_answer(
    web: Stack, open_tab: OpenTab, known: Known
) -> None:
    web.model.say("I know.", always=True)
    tab = await opened(web, open_tab)
    await choose(tab, known.content, "Edit")
    field = tab.page.get_by_label("Edit this memory")
    await field.fill(known.content.replace("shed", "garage"))
    await field.press("Enter")
    await expect(card(tab, "hangs in the garage")).to_be_visible()
    await tab.click("New conversation", tab.page.get_by_role("navigation"))
    await tab.say("Where does the spare key hang?")
    await expect(tab.answers).to_contain_text("I know.")
    asked = json.dumps(web.model.chats[-1].json)
    assert "hangs in the garage" in asked
    assert "hangs in the shed" not in asked


async def test_something_can_be_added(web: Stack, open_tab: OpenTab, api: httpx2.AsyncClient) -> None:
    content = f"The parcel {secrets.token_hex(3)} comes on Friday."
    tab = await opened(web, open_tab)
    await tab.click("Add a memory")
    await tab.page.get_by_label("Something to remember").fill(content)
    await tab.page.keyboard.press("Enter")
    await tab.click("Where from, where used", card(tab, content))
    await expect(card(tab, content)).to_contain_text("Added by you")
    (memory,) = (await api.post("/memories/search", json={"query": content, "limit": 1})).json()["items"]
    assert memory["content"] == content
    (await api.delete(f"/memories/{memory['id']}")).raise_for_status()


async def test_a_document_can_be_remembered(web: Stack, open_tab: OpenTab, api: httpx2.AsyncClient) -> None:
    words = f"The lighthouse {secrets.token_hex(3)} was built in 1871."
    tab = await opened(web, open_tab)
    async with tab.page.expect_file_chooser() as chosen:
        await tab.click("Add a document")
    document: FilePayload = {"name": "coast.md", "mimeType": "text/markdown", "buffer": words.encode()}
    await (await chosen.value).set_files(document)
    await expect(tab.page.get_by_text("“coast.md” is remembered, in 1 piece.")).to_be_visible()
    await tab.click("Where from, where used", card(tab, words))
    await expect(card(tab, words)).to_contain_text("From the document “coast.md”")
    (memory,) = (await api.post("/memories/search", json={"query": words, "limit": 1})).json()["items"]
    (await api.delete(f"/memories/{memory['id']}")).raise_for_status()


async def test_a_memory_is_pinned_and_rated(
    web: Stack, open_tab: OpenTab, known: Known, api: httpx2.AsyncClient
) -> None:
    tab = await opened(web, open_tab)
    await choose(tab, known.content, "Pin")
    await expect(card(tab, known.content)).to_contain_text("Pinned")
    await tab.click("4 stars", card(tab, known.content))
    four = card(tab, known.content).get_by_role("button", name="4 stars")
    await expect(four).to_have_attribute("aria-pressed", "true")
    stored = (await api.get(f"/memories/{known.id}")).json()
    assert (stored["pinned"], stored["userRating"]) == (True, 4)
    await four.click()
    await expect(four).to_have_attribute("aria-pressed", "false")
    assert (await api.get(f"/memories/{known.id}")).json()["userRating"] is None


async def test_what_is_deleted_or_archived_can_be_taken_back(
    web: Stack, open_tab: OpenTab, known: Known, api: httpx2.AsyncClient
) -> None:
    tab = await opened(web, open_tab)
    await choose(tab, known.content, "Delete")
    # It stays as long as somebody points at it.
    await tab.page.get_by_text("Memory deleted.").hover()
    await expect(card(tab, known.content)).to_have_count(0)
    assert (await api.get(f"/memories/{known.id}")).status_code == 404
    await tab.click("Undo")
    await expect(card(tab, known.content)).to_be_visible()
    await choose(tab, known.content, "Archive")
    await expect(card(tab, known.content)).to_have_count(0)
    await tab.click("Show archived")
    await choose(tab, known.content, "Use again")
    await expect(card(tab, known.content)).to_have_count(0)
    await tab.click("Show those in use")
    await expect(card(tab, known.content)).to_be_visible()


async def test_a_search_finds_and_shows_how_well_it_fits(web: Stack, open_tab: OpenTab, known: Known) -> None:
    tab = await opened(web, open_tab)
    await tab.page.get_by_label("Search in memories").fill(known.content.split()[3])
    found = tab.page.get_by_role("region", name="Best first").get_by_role("listitem")
    await expect(found.first).to_contain_text(known.content)
    await expect(found.first).to_contain_text("% match")


async def test_a_memory_leads_to_where_it_was_used_and_back(
    web: Stack, open_tab: OpenTab, known: Known
) -> None:
    web.model.say("In the shed.")
    tab = await open_tab()
    await tab.say(f"Where does {known.content[4:21]} hang?")
    await expect(tab.answers).to_contain_text("In the shed.")
    conversation = tab.conversation_id
    await tab.answers.get_by_role("button", name="Why").click()
    await tab.page.get_by_role("link", name=known.content).click()
    details = card(tab, known.content).first
    await expect(details).to_contain_text("Used for one answer")
    await details.get_by_role("link", name=f"Where does {known.content[4:21]} hang?").click()
    await expect(tab.answers).to_contain_text("In the shed.")
    assert tab.conversation_id.startswith(conversation)


async def test_memory_can_be_switched_off(
    web: Stack, open_tab: OpenTab, known: Known, api: httpx2.AsyncClient
) -> None:
    web.model.say("I could not say.", always=True)
    tab = await opened(web, open_tab)
    await tab.page.get_by_role("switch", name="Memory").click()
    await expect(tab.page.get_by_text("Memory is off")).to_be_visible()
    await tab.click("New conversation", tab.page.get_by_role("navigation"))
    await tab.say("Where does the spare key hang?")
    await expect(tab.answers).to_contain_text("I could not say.")
    assert known.content not in json.dumps(web.model.chats[-1].json)
    (await api.patch("/settings", json={"memory": True})).raise_for_status()

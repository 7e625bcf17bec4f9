"""A conversation in the browser, from the first word to the branches."""

import pytest
from playwright.async_api import expect

from support.browser import OpenTab
from support.scripted import Fail, Reasoning, Script, Text
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]

FIRST = "The first sentence is here."
SECOND = "The second one follows it."


async def test_an_answer_appears_sentence_by_sentence(web: Stack, open_tab: OpenTab) -> None:
    held = web.model.hold(f"{FIRST} {SECOND}")
    tab = await open_tab()
    await tab.say("Tell me something.")
    held.release(7)
    await expect(tab.answers).to_contain_text(FIRST)
    await expect(tab.answers).not_to_contain_text(SECOND)
    await expect(tab.page.get_by_role("button", name="Stop")).to_be_visible()
    held.release_all()
    await expect(tab.answers).to_contain_text(SECOND)
    await expect(tab.answers.get_by_role("button", name="Copy answer")).to_be_visible()
    await expect(tab.page.get_by_role("heading", level=1)).to_have_text("Tell me something.")
    assert tab.conversation_id.startswith("ac_")


async def test_a_reload_in_mid_answer_loses_nothing(web: Stack, open_tab: OpenTab) -> None:
    held = web.model.hold(f"{FIRST} {SECOND} A third one ends it.")
    tab = await open_tab()
    await tab.say("Go on while I am away.")
    held.release(7)
    await expect(tab.answers).to_contain_text(FIRST)
    await tab.page.goto("about:blank")
    held.release_all()
    await tab.page.go_back()
    await expect(tab.answers).to_have_count(1)
    await expect(tab.answers.locator(".prose")).to_have_text(f"{FIRST} {SECOND} A third one ends it.")
    await expect(tab.questions).to_have_count(1)


async def test_what_is_written_offline_is_sent_once(web: Stack, open_tab: OpenTab) -> None:
    web.model.say("Here I am.", when="Are you there?", always=True)
    tab = await open_tab()
    await tab.page.context.set_offline(True)
    await tab.say("Are you there?")
    await expect(tab.status).to_contain_text("You are offline.")
    await expect(tab.questions).to_contain_text("Waiting to be sent")
    await tab.page.context.set_offline(False)
    await expect(tab.answers).to_contain_text("Here I am.")
    await expect(tab.questions).not_to_contain_text("Waiting to be sent")
    await tab.page.reload()
    await expect(tab.answers).to_contain_text("Here I am.")
    await tab.online()
    await expect(tab.questions).to_have_count(1)
    assert len(web.model.chats) == 1


async def test_words_that_never_left_a_closed_tab_are_sent_by_the_next(web: Stack, open_tab: OpenTab) -> None:
    web.model.say("Late, but here.", always=True)
    first = await open_tab()
    await first.page.context.set_offline(True)
    await first.say("Keep this for me.")
    await expect(first.questions).to_contain_text("Waiting to be sent")
    await first.page.close()
    await first.page.context.set_offline(False)
    second = await open_tab()
    entry = second.page.get_by_role("link", name="Keep this for me.")
    await entry.click()
    await expect(second.answers).to_contain_text("Late, but here.")
    await expect(second.questions).to_have_count(1)
    assert len(web.model.chats) == 1


async def test_two_tabs_show_the_same_conversation(web: Stack, open_tab: OpenTab) -> None:
    web.model.say("To both of you.", when="Hello from one")
    web.model.say("And back again.", when="Hello from two")
    one = await open_tab()
    await one.say("Hello from one")
    await expect(one.answers).to_contain_text("To both of you.")
    two = await open_tab(one.page.url)
    await expect(two.answers).to_contain_text("To both of you.")
    await two.online()
    await two.say("Hello from two")
    for tab in (one, two):
        await expect(tab.answers.locator(".prose")).to_have_text(["To both of you.", "And back again."])
        await expect(tab.questions.locator(".bubble")).to_have_text(["Hello from one", "Hello from two"])


async def test_escape_stops_an_answer_and_keeps_what_was_said(web: Stack, open_tab: OpenTab) -> None:
    held = web.model.hold(f"{FIRST} {SECOND}")
    tab = await open_tab()
    await tab.say("Talk at length.")
    held.release(7)
    await expect(tab.answers).to_contain_text(FIRST)
    await tab.page.keyboard.press("Escape")
    await expect(tab.answers).to_contain_text("You stopped this answer here.")
    await expect(tab.answers).to_contain_text(FIRST)
    await expect(tab.page.get_by_role("button", name="Send")).to_be_visible()


async def test_an_answer_can_be_given_again_and_stepped_through(web: Stack, open_tab: OpenTab) -> None:
    web.model.say("One way to see it.")
    web.model.say("Another way to see it.")
    tab = await open_tab()
    await tab.say("How do you see it?")
    await expect(tab.answers).to_contain_text("One way")
    await tab.click("Answer again")
    await expect(tab.answers).to_contain_text("Another way")
    await expect(tab.answers).to_contain_text("2 / 2")
    await tab.click("Earlier version")
    await expect(tab.answers).to_contain_text("One way")
    await tab.page.reload()
    await expect(tab.answers).to_contain_text("Another way")
    await expect(tab.answers).to_have_count(1)


async def test_a_question_can_be_edited_and_both_branches_read(web: Stack, open_tab: OpenTab) -> None:
    web.model.say("A river in Italy.", when="the Po")
    web.model.say("A poet of America.", when="Poe")
    tab = await open_tab()
    await tab.say("Who was the Po?")
    await expect(tab.answers).to_contain_text("A river")
    await tab.questions.hover()
    await tab.click("Edit")
    field = tab.page.get_by_label("Edit your message")
    await field.fill("Who was Poe?")
    await field.press("Enter")
    await expect(tab.answers).to_contain_text("A poet")
    await expect(tab.questions.locator(".bubble")).to_have_text(["Who was Poe?"])
    await tab.click("Earlier version")
    await expect(tab.answers).to_contain_text("A river")
    await expect(tab.questions.locator(".bubble")).to_have_text(["Who was the Po?"])


async def test_notes_stay_on_their_message(web: Stack, open_tab: OpenTab) -> None:
    web.model.say("Noted.")
    tab = await open_tab()
    await tab.say("Anything.")
    await expect(tab.answers).to_contain_text("Noted.")
    await tab.click("Add a note", tab.answers)
    field = tab.page.get_by_label("Your note", exact=True)
    await field.fill("I like this one.")
    await field.press("Enter")
    notes = tab.answers.get_by_role("list", name="Your notes")
    await expect(notes).to_have_text("I like this one.")
    await tab.questions.hover()
    await tab.click("Add a note", tab.questions)
    await field.fill("Asked in haste.")
    await field.press("Enter")
    # What is shown is safe in the browser, if not yet with the server.
    await expect(tab.questions).to_contain_text("Asked in haste.")
    await tab.page.reload()
    await expect(notes).to_have_text("I like this one.")
    await expect(tab.questions.get_by_role("list", name="Your notes")).to_have_text("Asked in haste.")


async def test_why_shows_the_thoughts_behind_an_answer(web: Stack, open_tab: OpenTab) -> None:
    web.model.chat(Script(Reasoning("Perhaps it is about tea."), Text("Tea, I should say.")))
    tab = await open_tab()
    await tab.say("What shall I drink?")
    why = tab.answers.get_by_role("button", name="Why · thoughts")
    await why.focus()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("region", name="Why this answer")).to_contain_text("about tea")


async def test_a_model_that_fails_is_named_and_can_be_tried_again(web: Stack, open_tab: OpenTab) -> None:
    web.model.fail(times=10, step=Fail(400))
    tab = await open_tab()
    await tab.say("Are you well?")
    await expect(tab.answers.get_by_role("alert")).to_be_visible()
    web.model.reset()
    web.model.say("Well again.")
    await tab.click("Try again")
    await expect(tab.answers).to_contain_text("Well again.")


async def test_code_can_be_copied_and_harmful_answers_stay_text(web: Stack, open_tab: OpenTab) -> None:
    web.model.say(
        "Run this:\n\n```bash\necho hello\n```\n\n<img src=x onerror=alert(1)> [x](javascript:alert(1))"
    )
    tab = await open_tab()
    await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await tab.say("Show me.")
    await expect(tab.answers.get_by_role("button", name="Copy answer")).to_be_visible()
    async with tab.seeing('[aria-label="Copied"]'):
        await tab.click("Copy code")
    assert await tab.page.evaluate("navigator.clipboard.readText()") == "echo hello"
    await expect(tab.answers.locator("img")).to_have_count(0)
    await expect(tab.answers.locator("a")).to_have_count(0)


async def test_a_new_conversation_begins_empty_and_the_old_one_is_listed(
    web: Stack, open_tab: OpenTab
) -> None:
    web.model.say("The first of many.")
    tab = await open_tab()
    await tab.say("Begin with this.")
    await expect(tab.answers).to_contain_text("The first of many.")
    await tab.click("New conversation", tab.page.get_by_role("navigation"))
    await expect(tab.page.get_by_role("heading", name="What is on your mind?")).to_be_visible()
    await tab.page.get_by_role("link", name="Begin with this.").click()
    await expect(tab.answers).to_contain_text("The first of many.")

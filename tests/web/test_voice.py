"""Speaking with Alicia in the browser: heard, shown, answered aloud, and heard again."""

import wave
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from alicia.speech.segments import RATE
from support.browser import OpenTab, Tab, Theme, launched
from support.speech import age_of_wisdom, is_wisdom
from support.stack import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]

PEERS = """
const Peer = window.RTCPeerConnection
window.peers = []
window.RTCPeerConnection = class extends Peer {
    constructor(...given) { super(...given); window.peers.push(this) }
}
"""
RECEIVED = """async () => {
    let packets = 0
    for (const peer of window.peers)
        for (const report of (await peer.getStats()).values())
            if (report.type === 'inbound-rtp' && report.kind === 'audio') packets += report.packetsReceived
    return packets
}"""
INTERIMS = """
window.interims = []
new MutationObserver(() => {
    const shown = document.querySelector('.hearing:not(.final) .bubble')
    if (shown) window.interims.push(shown.textContent)
}).observe(document, {subtree: true, childList: true, characterData: true})
"""
STAGES = ["Heard", "Transcribed", "Remembered", "First token", "Sentences", "Speech"]
REFUSED = "() => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', '%s') } }"
INSECURE = "() => { Object.defineProperty(window, 'isSecureContext', {value: false}) }"


@pytest.fixture
def microphone(tmp_path: Path) -> Path:
    """Somebody who speaks a while after the microphone was opened: the models are loaded by then."""
    path = tmp_path / "microphone.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(bytes(2 * 8 * RATE) + age_of_wisdom() + bytes(2 * 60 * RATE))
    return path


async def test_a_spoken_question_is_shown_answered_aloud_and_heard_again(
    web: Stack, microphone: Path, axe: str
) -> None:
    web.model.say("It was the age of wisdom. It was the age of foolishness.")
    async with launched(microphone) as browser:
        context = await browser.new_context(permissions=["microphone"], service_workers="block")
        await context.add_init_script(PEERS + INTERIMS)
        tab = await Tab.open(context, web.url)
        voice = tab.page.get_by_role("group", name="Voice")
        await tab.click("Speak")
        await expect(voice).to_contain_text("Listening…", timeout=30_000)
        assert await tab.axe(axe) == []
        await expect(tab.answers).to_contain_text("the age of foolishness", timeout=30_000)
        await expect(tab.page.get_by_role("article", name="You, speaking")).to_have_count(0)
        assert await tab.page.evaluate("interims.length") > 0
        heard = await tab.questions.locator(".bubble").inner_text()
        assert is_wisdom(heard)
        # This state is told by the level of the sound that comes in.
        await expect(voice).to_have_attribute("data-state", "speaking", timeout=30_000)
        assert await tab.page.evaluate(RECEIVED) > 10
        await expect(voice).to_have_attribute("data-state", "listening", timeout=30_000)
        await tab.click("Mute", voice)
        await expect(voice).to_contain_text("Muted")
        await tab.click("End", voice)
        await expect(voice).to_have_count(0)
        await plays_again(tab)
        assert tab.faults == []


async def plays_again(tab: Tab) -> None:
    for where in (tab.answers, tab.questions):
        await where.hover()
        async with tab.page.expect_response(lambda response: "audio" in response.url) as sound:
            await tab.click("Listen again", where)
        assert (await sound.value).status in (200, 206)
        await expect(where.get_by_role("button", name="Stop playing")).to_be_visible()
        await expect(where.get_by_role("button", name="Listen again")).to_be_visible()
    await tab.answers.get_by_role("button", name="Why").click()
    why = tab.page.get_by_role("region", name="Why this answer")
    await why.get_by_role("button", name="Listen to “It was the age of wisdom.”").click()
    await expect(why.get_by_role("button", name="Stop playing")).to_be_visible()
    await expect(why.locator(".waterfall .name")).to_have_text(STAGES)


@pytest.mark.parametrize(
    ("obstacle", "words"),
    [
        (REFUSED % "NotAllowedError", "The microphone is blocked."),
        (REFUSED % "NotFoundError", "No microphone was found."),
        (REFUSED % "NotReadableError", "The microphone does not answer."),
        (INSECURE, "This page can’t use the microphone."),
    ],
    ids=["refused", "missing", "busy", "insecure"],
)
async def test_the_page_says_plainly_why_there_is_no_microphone(
    open_tab: OpenTab, obstacle: str, words: str
) -> None:
    tab = await open_tab()
    await tab.page.evaluate(obstacle)
    await tab.click("Speak")
    alert = tab.page.get_by_role("alert")
    await expect(alert).to_contain_text(words)
    await tab.click("Try again", alert)
    await expect(alert).to_contain_text(words)
    await tab.click("Write instead", alert)
    await expect(alert).to_have_count(0)
    await expect(tab.field).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_axe_finds_no_serious_fault_when_the_microphone_is_refused(
    browser: Browser, web: Stack, axe: str, theme: Theme
) -> None:
    context = await browser.new_context(
        color_scheme=theme, reduced_motion="reduce", viewport={"width": 360, "height": 740}
    )
    tab = await Tab.open(context, web.url)
    await tab.page.evaluate(REFUSED % "NotAllowedError")
    await tab.click("Speak")
    await expect(tab.page.get_by_role("alert")).to_be_visible()
    assert await tab.axe(axe) == []
    await context.close()

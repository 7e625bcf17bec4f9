"""Speaking with Alicia in the browser: heard, shown, answered aloud, and heard again."""

import asyncio
import base64
import wave
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from alicia.speech.segments import RATE
from support.browser import OpenTab, Tab, launched
from support.scripted import Hang, Script
from support.speech import age_of_wisdom, is_wisdom, recorded
from support.stack import Stack
from support.up import eventually

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("web")]

MOUTH = """
const capture = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
navigator.mediaDevices.getUserMedia = async wanted => {
    const silent = await capture(wanted)
    const room = new AudioContext()
    const ear = room.createMediaStreamDestination()
    room.createMediaStreamSource(silent).connect(ear)
    window.speak = (encoded, rate) => new Promise(done => {
        const bytes = Uint8Array.from(atob(encoded), each => each.charCodeAt(0))
        const samples = Float32Array.from(new Int16Array(bytes.buffer), each => each / 32768)
        const words = room.createBuffer(1, samples.length, rate)
        words.copyToChannel(samples, 0)
        const mouth = new AudioBufferSourceNode(room, {buffer: words})
        mouth.connect(ear)
        mouth.onended = () => done()
        mouth.start()
    })
    const [track] = ear.stream.getAudioTracks()
    track.getSettings = () => silent.getAudioTracks()[0].getSettings()
    return ear.stream
}
"""
"""Somebody before the microphone, who speaks when the test says so and not at a time that was set before."""
NO_LIST = "navigator.mediaDevices.enumerateDevices = () => new Promise(() => {})"
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
LEVEL = """() => new Promise(resolve => {
    const look = () => {
        const level = Number(document.querySelector('.levels')?.style.getPropertyValue('--level'))
        if (level > 0.05) resolve(level)
        else requestAnimationFrame(look)
    }
    look()
})"""
"""How loud the page shows it to be, once somebody speaks."""
LOUDNESS = """async () => {
    const level = async () => {
        let most = 0
        for (const peer of window.peers)
            for (const report of (await peer.getStats()).values())
                if (report.type === 'inbound-rtp' && report.kind === 'audio')
                    most = Math.max(most, report.audioLevel)
        return most
    }
    let loudest = 0
    for (let look = 0; look < 20; look += 1) {
        loudest = Math.max(loudest, await level())
        await new Promise(done => setTimeout(done, 50))
    }
    return loudest
}"""
LONG = (
    "One is the first of all numbers, and some say that it is not a number at all. "
    "Two comes after it, is even, and is the only even number that is prime. "
    "Three is the number of wishes, of little pigs, and of the corners of a triangle. "
    "Four is the number of seasons, of the winds, and of the legs of a chair. "
    "Five is the number of fingers on a hand, which is how counting began. "
    "Six is the number of strings on a guitar, and of the sides of a snowflake. "
    "Seven is the number of days in a week, and of the colours in a rainbow. "
    "Eight is the number of legs that a spider has, and of notes in an octave."
)
STAGES = ["Heard", "Transcribed", "Remembered", "First token", "Sentences", "Speech"]
REFUSED = "() => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', '%s') } }"
INSECURE = "() => { Object.defineProperty(window, 'isSecureContext', {value: false}) }"


def silence(seconds: int) -> bytes:
    return bytes(2 * seconds * RATE)


@pytest.fixture
def microphone(tmp_path: Path) -> Path:
    """It hears nothing by itself."""
    return written(tmp_path, silence(60))


def written(folder: Path, sound: bytes) -> Path:
    path = folder / "microphone.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(sound)
    return path


@asynccontextmanager
async def speaker(microphone: Path, scripts: str = "") -> AsyncGenerator[BrowserContext]:
    """A browser with a microphone, and somebody before it."""
    async with launched(microphone) as browser:
        context = await browser.new_context(permissions=["microphone"], service_workers="block")
        await context.add_init_script(MOUTH + scripts)
        yield context
        await context.close()


async def is_heard(web: Stack, tab: Tab) -> None:
    """Switch the microphone on, and wait until the agent listens to it."""
    ears = web.agent.log.read_text().count("listening")
    await tab.click("Speak")
    await expect(tab.page.get_by_role("group", name="Voice")).to_contain_text("Listening…", timeout=30_000)
    await asyncio.to_thread(
        eventually, lambda: web.agent.log.read_text().count("listening") > ears, "the agent listens"
    )


async def speak(tab: Tab, sound: bytes) -> None:
    await tab.page.evaluate("([sound, rate]) => speak(sound, rate)", [base64.b64encode(sound).decode(), RATE])


async def test_a_spoken_question_is_shown_answered_aloud_and_heard_again(
    web: Stack, microphone: Path, axe: str
) -> None:
    web.model.say("It was the age of wisdom. It was the age of foolishness.", always=True)
    async with speaker(microphone, PEERS + INTERIMS) as context:
        tab = await Tab.open(context, web.url)
        voice = tab.page.get_by_role("group", name="Voice")
        await is_heard(web, tab)
        assert await tab.axe(axe) == []
        # This state is told by the level of the sound that comes in.
        async with tab.seeing('.voice[data-state="speaking"]'):
            level, _ = await asyncio.gather(tab.page.evaluate(LEVEL), speak(tab, age_of_wisdom()))
            await expect(tab.answers).to_contain_text("the age of foolishness", timeout=30_000)
        assert level > 0.05
        await expect(tab.page.get_by_role("article", name="You, speaking")).to_have_count(0)
        assert await tab.page.evaluate("interims.length") > 0
        heard = await tab.questions.locator(".bubble").inner_text()
        assert is_wisdom(heard)
        await expect(voice).to_have_attribute("data-state", "listening", timeout=30_000)
        assert await tab.page.evaluate(RECEIVED) > 10
        microphones = voice.get_by_role("combobox", name="Microphone")
        other = await microphones.get_by_role("option").last.get_attribute("value")
        await microphones.select_option(other)
        await expect(microphones).to_have_value(other or "")
        await expect(voice).to_have_attribute("data-state", "listening")
        await tab.click("Mute", voice)
        await expect(voice).to_contain_text("Muted")
        await tab.click("End", voice)
        await expect(voice).to_have_count(0)
        await plays_again(tab)
        assert tab.faults == []


async def test_who_speaks_into_an_answer_makes_her_silent_and_she_remembers_what_was_heard(
    web: Stack, microphone: Path, axe: str
) -> None:
    # The second question gets no answer: any sound after it would be of the first one.
    web.model.chat(Script(Hang()), when="times", always=True)
    web.model.say(LONG, always=True)
    async with speaker(microphone, PEERS) as context:
        tab = await Tab.open(context, web.url)
        voice = tab.page.get_by_role("group", name="Voice")
        await is_heard(web, tab)
        await speak(tab, age_of_wisdom())
        await expect(voice).to_have_attribute("data-state", "speaking", timeout=30_000)
        assert await tab.axe(axe) == []
        await speak(tab, recorded(0.9, 2.9))
        interrupted = tab.answers.filter(has_text="You interrupted this answer.")
        await expect(interrupted).to_have_count(1, timeout=30_000)
        await expect(tab.questions.last).to_contain_text("times")
        await expect(voice).to_have_attribute("data-state", "thinking")
        assert await tab.page.evaluate(LOUDNESS) < 0.001
        await expect(interrupted.locator(".prose")).to_have_text(LONG)
        assert tab.faults == []
    heard = remembered(web)
    assert LONG.startswith(heard.removesuffix("…"))
    assert 0 < len(heard) < len(LONG)


async def test_who_switches_voice_off_and_on_again_hears_her_again(web: Stack, microphone: Path) -> None:
    web.model.say(LONG, always=True)
    async with launched(microphone) as browser:
        context = await browser.new_context(permissions=["microphone"], service_workers="block")
        tab = await Tab.open(context, web.url)
        voice = tab.page.get_by_role("group", name="Voice")
        for words in ("Count for me, please.", "Once more."):
            await tab.click("Speak")
            await expect(voice).to_contain_text("Listening…", timeout=30_000)
            await tab.say(words)
            # This state is told by the level of the sound that comes in.
            await expect(voice).to_have_attribute("data-state", "speaking", timeout=30_000)
            await tab.click("End", voice)
            await expect(voice).to_have_count(0)
        assert tab.faults == []
        await context.close()


async def test_a_conversation_that_is_begun_by_voice_stays_in_view_however_slow_the_browser_is(
    web: Stack, microphone: Path
) -> None:
    web.model.say("Said to who has a microphone.", always=True)
    async with speaker(microphone, NO_LIST) as context:
        tab = await Tab.open(context, web.url)
        await is_heard(web, tab)
        opened = tab.conversation_id
        await tab.say("Do you hear me?")
        await expect(tab.answers).to_contain_text("Said to who has a microphone.")
        assert tab.conversation_id == opened


def remembered(web: Stack) -> str:
    """What the model was told of its first answer when it was asked the second time."""
    asked = next(each for each in web.model.chats if "times" in each.user_text)
    return next(each["content"] for each in asked.json["messages"] if each["role"] == "assistant")


async def plays_again(tab: Tab) -> None:
    for where, name in ((tab.answers, "answer"), (tab.questions, "question")):
        await where.hover()
        async with (
            tab.seeing(f'.{name} [aria-label="Stop playing"]'),
            tab.page.expect_response(lambda response: "audio" in response.url) as sound,
        ):
            await tab.click("Listen again", where)
        assert (await sound.value).status in (200, 206)
        await expect(where.get_by_role("button", name="Listen again")).to_be_visible()
    await tab.answers.get_by_role("button", name="Why").click()
    why = tab.page.get_by_role("region", name="Why this answer")
    async with tab.seeing('.why [aria-label="Stop playing"]'):
        await why.get_by_role("button", name="Listen to “It was the age of wisdom.”").click()
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

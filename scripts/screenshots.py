"""Takes the pictures in docs/screenshots/ from the real web client, with a model that follows a script.

.venv/bin/python scripts/screenshots.py [FOLDER]
"""

import asyncio
import json
import sys
import tempfile
import urllib.request
import wave
from collections.abc import Awaitable, Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from playwright.async_api import Browser, expect  # noqa: E402

from support import ground  # noqa: E402
from support.browser import Tab, Theme, launched  # noqa: E402
from support.scripted import Reasoning, Script, Text  # noqa: E402
from support.speech import RATE, recorded  # noqa: E402
from support.stack import Stack  # noqa: E402

SIZES = {"wide": (1440, 900), "narrow": (360, 780)}

QUESTION = "How do I find the ten largest files on my NAS, and why is `du` slower than `find`?"
THOUGHTS = (
    "The user wants the largest single files, so a listing by file, not by folder. "
    "`find` with `-printf` and `sort` does it in one pass. `du` has to add up folders as well."
)
ANSWER = """\
Ask `find` for every file's size, sort, and keep the first ten:

```bash
# -xdev stays on this disk, %s is the size in bytes
find / -xdev -type f -printf '%s\\t%p\\n' 2>/dev/null \\
  | sort -rn \\
  | head -n 10 \\
  | numfmt --to=iec --field=1
```

**Why `du` is slower.** Both read the same folders, but they do different work:

| | `find -printf '%s'` | `du -a` |
|---|---|---|
| Looks at | each file's length | each file's *blocks* |
| Remembers | nothing | every hard link it has seen |
| Adds up | nothing | all folders above each file |

With $n$ files in folders of depth $d$, `du` does about $n \\cdot d$ additions, `find` only prints $n$ lines.
"""
SECOND = "Could you explain the sort step? I have never used it on the NAS."
SECOND_ANSWER = """\
`sort -rn` reads the first column as a **number** (`-n`) and puts the largest first (`-r`). \
Without `-n` it would compare text, and 9 would come before 10.
"""
MEMORIES = [
    {"content": "Keeps backups on a NAS in the cellar.", "memoryType": "fact", "tags": ["home"]},
    {"content": "Prefers short answers with an example.", "memoryType": "preference", "pinned": True},
    {"content": "Is allergic to hazelnuts.", "memoryType": "fact", "pinned": True},
    {"content": "Drinks tea in the morning, never coffee.", "memoryType": "preference"},
    {"content": "Ilse is a colleague who plays the viola.", "memoryType": "person"},
]
EARLIER = ["A walk in the Alps, with a tent", "Names for a cat", "Why is the sky blue at noon?"]
TITLES = {
    "Alps": "A walk in the Alps",
    "cat": "Names for a cat",
    "sky": "The blue sky",
    "NAS": "The largest files",
}


async def shoot(tab: Tab, folder: Path, name: str) -> None:
    await tab.page.evaluate("document.fonts.ready")
    await tab.page.mouse.move(0, 0)
    # Whatever still fades in is not what the picture is about.
    await tab.page.add_style_tag(
        content="*{animation:none!important;transition:none!important;caret-color:transparent!important}"
    )
    await tab.page.screenshot(path=folder / f"{name}.png")


async def opened(browser: Browser, stack: Stack, size: str, theme: Theme) -> Tab:
    width, height = SIZES[size]
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,
        has_touch=size == "narrow",
        is_mobile=size == "narrow",
        reduced_motion="reduce",
        bypass_csp=True,
        permissions=["microphone"],
        service_workers="block",
    )
    return await Tab.open(context, stack.url)


async def empty(tab: Tab, folder: Path, name: str) -> None:
    await shoot(tab, folder, name)


async def conversation(tab: Tab, folder: Path, name: str) -> None:
    await erase_earlier(tab)
    await tab.say(QUESTION)
    await expect(tab.answers.first.get_by_role("button", name="Copy answer")).to_be_visible()
    await expect(tab.page.locator("math").first).to_be_visible()
    await expect(tab.page.locator(".hljs-comment").first).to_be_visible()
    await tab.page.locator(".scroller").evaluate("element => element.scrollTo(0, 0)")
    await shoot(tab, folder, name)
    await tab.say(SECOND)
    answer = tab.answers.nth(1)
    await expect(answer.get_by_role("button", name="Copy answer")).to_be_visible()
    await tab.click("Add a note", answer)
    await tab.page.get_by_label("Your note").fill("Works on the NAS too.")
    await tab.page.get_by_label("Your note").press("Enter")
    await answer.get_by_role("button", name="Why").click()
    await expect(answer.get_by_role("list", name="Your notes")).to_be_visible()
    await expect(tab.page.locator(".waterfall")).to_be_visible()
    await tab.page.locator(".scroller").evaluate("element => element.scrollTo(0, 1e6)")
    await shoot(tab, folder, f"{name}-why")


async def erase_earlier(tab: Tab) -> None:
    """Nobody asks the same thing once for every picture."""
    listed = await tab.page.request.get(f"{tab.url}/api/v1/conversations")
    for each in (await listed.json())["items"]:
        if each["title"] == TITLES["NAS"]:
            await tab.page.request.delete(f"{tab.url}/api/v1/conversations/{each['id']}?erase=true")
    await tab.page.reload()


async def search(tab: Tab, folder: Path, name: str) -> None:
    if await tab.page.get_by_role("button", name="Conversations").is_visible():
        await tab.page.get_by_role("button", name="Conversations").click()
    await tab.page.get_by_label("Search in conversations").fill("sort numbers")
    await expect(tab.page.locator(".hit").first).to_be_visible()
    await shoot(tab, folder, name)


async def listing(tab: Tab, folder: Path, name: str) -> None:
    await tab.page.get_by_role("button", name="Conversations").click()
    await expect(tab.page.locator(".entry").nth(2)).to_be_visible()
    await shoot(tab, folder, name)


async def memory(tab: Tab, folder: Path, name: str) -> None:
    await tab.page.goto(f"{tab.url}/#memory")
    card = tab.page.get_by_role("listitem").filter(has_text="backups on a NAS")
    await card.get_by_role("button", name="Where from, where used").click()
    await expect(card.get_by_text("Used for")).to_be_visible()
    await shoot(tab, folder, name)


async def settings(tab: Tab, folder: Path, name: str) -> None:
    await tab.page.goto(f"{tab.url}/#settings")
    await expect(tab.page.get_by_role("switch", name="calculator")).to_be_visible()
    await shoot(tab, folder, name)


async def voice(tab: Tab, folder: Path, name: str) -> None:
    await tab.click("Speak")
    await expect(tab.page.locator(".hearing")).to_contain_text("best of times", timeout=30_000)
    await shoot(tab, folder, name)


async def erase(tab: Tab, folder: Path, name: str) -> None:
    await tab.page.goto(f"{tab.url}/#settings")
    await tab.click("Erase…")
    await tab.page.get_by_label("This can’t be undone.").fill("erase every")
    await tab.page.locator(".confirm").scroll_into_view_if_needed()
    await shoot(tab, folder, name)


async def away(tab: Tab, folder: Path, name: str) -> None:
    await tab.page.route("**/api/**", lambda route: route.abort())
    await tab.say("Remind me what we said about the garden.")
    await expect(tab.status).to_have_attribute("data-tone", "trouble")
    await shoot(tab, folder, name)


Scene = Callable[[Tab, Path, str], Awaitable[None]]
SCENES: list[tuple[Scene, str, list[tuple[str, Theme]]]] = [
    (empty, "empty", [("wide", "light"), ("narrow", "dark")]),
    (
        conversation,
        "conversation",
        [("wide", "light"), ("wide", "dark"), ("narrow", "light"), ("narrow", "dark")],
    ),
    (search, "search", [("wide", "light"), ("narrow", "dark")]),
    (listing, "list", [("narrow", "light"), ("narrow", "dark")]),
    (memory, "memory", [("wide", "light"), ("wide", "dark"), ("narrow", "light"), ("narrow", "dark")]),
    (settings, "settings", [("wide", "light"), ("wide", "dark"), ("narrow", "light"), ("narrow", "dark")]),
    (erase, "erase", [("wide", "dark"), ("narrow", "light")]),
    (voice, "voice", [("wide", "light"), ("narrow", "dark")]),
    (away, "away", [("wide", "dark"), ("narrow", "light")]),
]


def prepare(stack: Stack, folder: Path) -> Path:
    """Let there be something to show. The WAV is of somebody who speaks a while after the page opened."""
    stack.model.chat(Script(Reasoning(THOUGHTS, 0.01), Text(ANSWER, 0.01)), when="largest files", always=True)
    stack.model.chat(
        Script(Reasoning(THOUGHTS, 0.02), Text(SECOND_ANSWER, 0.04)), when="sort step", always=True
    )
    for word, title in TITLES.items():
        stack.model.answer_json({"title": title}, when=word, always=True)
    headers = {"content-type": "application/json"}
    data = json.dumps(MEMORIES).encode()
    urllib.request.urlopen(urllib.request.Request(f"{stack.url}/api/v1/memories", data, headers)).close()
    microphone = folder / "microphone.wav"
    with wave.open(str(microphone), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(bytes(2 * 8 * RATE) + recorded(0.9, 4.75) + bytes(2 * 60 * RATE))
    return microphone


async def take(stack: Stack, folder: Path, microphone: Path) -> None:
    async with launched(microphone) as browser:
        tab = await opened(browser, stack, "wide", "light")
        for words in EARLIER:
            await tab.say(words)
            await expect(tab.answers.get_by_role("button", name="Copy answer")).to_be_visible()
            await tab.page.locator(".new").click()
        await tab.page.context.close()
    for scene, name, looks in SCENES:
        for size, theme in looks:
            # Whoever has spoken is silent from then on, so each picture has a browser of its own.
            async with launched(microphone) as browser:
                tab = await opened(browser, stack, size, theme)
                await scene(tab, folder, f"{name}-{size}-{theme}")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    servers = ground.Ground()
    servers.open()
    try:
        database = ground.postgres().create("screenshots", template=ground.ask("template")["name"])
        with (
            tempfile.TemporaryDirectory() as home,
            Stack(Path(home), database, ground.livekit(), auth=False) as stack,
        ):
            asyncio.run(take(stack, folder, prepare(stack, Path(home))))
    finally:
        servers.close()


if __name__ == "__main__":
    main()

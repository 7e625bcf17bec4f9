"""Takes the pictures in docs/screenshots/ from the real web client, with a model that follows a script.

.venv/bin/python scripts/screenshots.py [FOLDER]
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from playwright.async_api import Browser, expect  # noqa: E402

from support import ground  # noqa: E402
from support.browser import Tab, Theme, launched  # noqa: E402
from support.scripted import Reasoning, Script, Text  # noqa: E402
from support.stack import Stack  # noqa: E402

SIZES = {"wide": (1440, 900), "narrow": (360, 780)}

QUESTION = "How do I find the ten largest files on my disk, and why is `du` slower than `find`?"
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
SECOND = "Could you explain the sort step?"
SECOND_ANSWER = """\
`sort -rn` reads the first column as a **number** (`-n`) and puts the largest first (`-r`). \
Without `-n` it would compare text, and 9 would come before 10.
"""


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
    )
    return await Tab.open(context, stack.url)


async def empty(tab: Tab, folder: Path, name: str) -> None:
    await shoot(tab, folder, name)


async def conversation(tab: Tab, folder: Path, name: str) -> None:
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
    await tab.page.locator(".scroller").evaluate("element => element.scrollTo(0, 1e6)")
    await shoot(tab, folder, f"{name}-why")


async def listing(tab: Tab, folder: Path, name: str) -> None:
    await tab.say(SECOND)
    await expect(tab.answers.first.get_by_role("button", name="Copy answer")).to_be_visible()
    await tab.page.get_by_role("button", name="Conversations").click()
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
    (listing, "list", [("narrow", "light")]),
    (away, "away", [("wide", "dark"), ("narrow", "light")]),
]


async def take(stack: Stack, folder: Path) -> None:
    stack.model.chat(Script(Reasoning(THOUGHTS), Text(ANSWER)), when="largest files", always=True)
    stack.model.chat(Script(Reasoning(THOUGHTS), Text(SECOND_ANSWER)), when="sort step", always=True)
    async with launched() as browser:
        for scene, name, looks in SCENES:
            for size, theme in looks:
                tab = await opened(browser, stack, size, theme)
                await scene(tab, folder, f"{name}-{size}-{theme}")
                await tab.page.context.close()


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
            asyncio.run(take(stack, folder))
    finally:
        servers.close()


if __name__ == "__main__":
    main()

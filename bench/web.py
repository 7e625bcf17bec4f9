"""What the web client adds to a turn, what it loads, and how it bears 10,000 messages.

    .venv/bin/python bench/web.py

Debian's Chromium on the real stack, with a scripted model that answers at once. The time from a packet's
leaving the page to the answer's arrival is the server's and the network's, and is not counted. Run it on a
quiet machine; the table goes to bench/results/web.md.
"""

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, cast

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from playwright.async_api import Browser, Page, expect

from machine import keep
from scratch import judge, show
from support import ground
from support.browser import Tab, launched
from support.long_history import long_history
from support.stack import Stack

TURNS: Final = 60
WARM_UP: Final = 5
OPENINGS: Final = 10
COUNT: Final = 10_000
SCROLL_MS: Final = 5_000
SIZE: Final = {"width": 1280, "height": 800}
RESULTS: Final = Path(__file__).parent / "results" / "web.md"
PROBES: Final = (Path(__file__).parent / "web_probes.js").read_text(encoding="utf-8")
SHARE_MS, LOAD_BYTES, OPEN_MS, FRAMES = 50.0, 350_000, 300.0, 55.0
PAINT_MS, SHIFT = 1_800.0, 0.1
"""What Lighthouse calls good."""


async def opened(browser: Browser, url: str) -> Tab:
    context = await browser.new_context(viewport=cast(Any, SIZE), service_workers="block")
    await context.add_init_script(PROBES)
    return await Tab.open(context, url)


async def turns(browser: Browser, stack: Stack) -> tuple[list[float], float]:
    """Of each turn the milliseconds that the page took; and by how much things moved unasked."""
    tab = await opened(browser, stack.url)
    shares: list[float] = []
    for number in range(TURNS + WARM_UP):
        answer = f"Answer number {number} is this."
        stack.model.say(f"{answer} A second sentence follows it.")
        await tab.page.evaluate("answer => probes.expect(answer)", answer)
        await tab.say(f"Question {number}")
        shares.append(await tab.page.evaluate("() => probes.share()"))
        await expect(tab.answers.last.get_by_role("button", name="Copy answer")).to_be_visible()
    shift: float = await tab.page.evaluate("() => probes.shift()")
    await tab.page.context.close()
    return shares[WARM_UP:], shift


async def first_load(browser: Browser, stack: Stack) -> tuple[int, list[float]]:
    """The compressed bytes of a first visit until somebody types, and when there was something to see."""
    sizes: list[int] = []
    paints: list[float] = []
    for _ in range(OPENINGS):
        tab = await opened(browser, stack.url)
        async with tab.page.expect_response(lambda response: "livekit" in response.url) as rest:
            await tab.field.press_sequentially("a")
        await (await rest.value).finished()
        sizes.append(await tab.page.evaluate("() => probes.bytes()"))
        paints.append(await tab.page.evaluate("() => probes.firstPaint()"))
        await tab.page.context.close()
    return max(sizes), paints


async def open_long(page: Page, conversation_id: str) -> float:
    """Milliseconds from the choice of a conversation until its newest message is painted."""
    took: float = await page.evaluate("id => probes.open(id)", conversation_id)
    return took


async def long_conversation(browser: Browser, stack: Stack) -> tuple[list[float], list[float], float, float]:
    """Openings by new browsers, openings again, frames a second while scrolling, and the longest frame."""
    conversation_id = long_history(stack.database_url, "local", COUNT)
    new: list[float] = []
    again: list[float] = []
    for _ in range(OPENINGS):
        tab = await opened(browser, stack.url)
        new.append(await open_long(tab.page, conversation_id))
        await tab.online()
        await tab.page.locator(".new").click()
        await expect(tab.page.get_by_role("heading", name="What is on your mind?")).to_be_visible()
        again.append(await open_long(tab.page, conversation_id))
        await tab.page.context.close()
    tab = await opened(browser, stack.url)
    await open_long(tab.page, conversation_id)
    await tab.online()
    place = await tab.page.locator(".scroller").bounding_box()
    assert place is not None
    await tab.page.mouse.move(place["x"] + 200, place["y"] + 200)
    await tab.page.evaluate("() => probes.watchFrames()")
    for _ in range(SCROLL_MS // 25):
        await tab.page.mouse.wheel(0, -300)
        await tab.page.wait_for_timeout(25)
    frames: list[float] = await tab.page.evaluate("() => probes.frames()")
    await tab.page.context.close()
    return new, again, 1_000 * len(frames) / sum(frames), max(frames)


async def measure(stack: Stack) -> None:
    async with launched() as browser:
        shares, shift = await turns(browser, stack)
        size, paints = await first_load(browser, stack)
        new, again, rate, longest = await long_conversation(browser, stack)
    share, paint = statistics.median(shares), statistics.median(paints)
    rows = [
        ("Enter to first sentence, less the server's share", ms(shares), f"≤ {SHARE_MS:.0f} ms (p50)"),
        ("first load, compressed", f"{size / 1_000:.0f} kB", f"≤ {LOAD_BYTES / 1_000:.0f} kB"),
        ("first content", ms(paints), f"≤ {PAINT_MS:.0f} ms"),
        (f"layout shift over {TURNS} turns", f"{shift:.3f}", f"≤ {SHIFT}"),
        (f"{COUNT:,} messages, opened for the first time", ms(new), f"< {OPEN_MS:.0f} ms"),
        (f"{COUNT:,} messages, opened again", ms(again), f"< {OPEN_MS:.0f} ms"),
        ("scrolling through them", f"{rate:.1f} frames/s", f"≥ {FRAMES:.0f} frames/s"),
        ("longest frame while scrolling", f"{longest:.0f} ms", ""),
    ]
    show("The web client", ("what", "measured", "target"), rows)
    table = ["| what | measured | target |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    keep(RESULTS, "\n".join(["# The web client", "", "`bench/web.py`", "", *table]))
    judge(
        [
            ("share of a turn", f"{share:.0f} ms", f"{SHARE_MS:.0f} ms", share <= SHARE_MS),
            ("first load", f"{size} B", f"{LOAD_BYTES} B", size <= LOAD_BYTES),
            ("first content", f"{paint:.0f} ms", f"{PAINT_MS:.0f} ms", paint <= PAINT_MS),
            ("layout shift", f"{shift:.3f}", f"{SHIFT}", shift <= SHIFT),
            ("opened first", f"{p50(new):.0f} ms", f"{OPEN_MS:.0f} ms", p50(new) < OPEN_MS),
            ("opened again", f"{p50(again):.0f} ms", f"{OPEN_MS:.0f} ms", p50(again) < OPEN_MS),
            ("scrolling", f"{rate:.1f}/s", f"{FRAMES:.0f}/s", rate >= FRAMES),
        ]
    )


def p50(values: list[float]) -> float:
    return statistics.median(values)


def ms(values: list[float]) -> str:
    return f"{p50(values):.0f} ms (p50), {statistics.quantiles(values, n=20)[-1]:.0f} ms (p95)"


def main() -> None:
    servers = ground.Ground(durable=True)
    servers.open()
    try:
        database = ground.postgres().create("web_bench", template=ground.ask("template")["name"])
        with (
            tempfile.TemporaryDirectory() as home,
            Stack(Path(home), database, ground.livekit(), auth=False) as stack,
        ):
            asyncio.run(measure(stack))
    finally:
        servers.close()


if __name__ == "__main__":
    main()

"""What the web client adds to a turn, what it loads, and how it bears 10,000 messages.

    .venv/bin/python bench/web.py [--rounds N] [--minutes M]

Debian's Chromium on the real stack, with a scripted model that answers at once. The time from a packet's
leaving the page to the answer's arrival is the server's and the network's, and is not counted. Run it on a
quiet machine; the table goes to bench/results/web.md.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
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

ROUNDS: Final = 20
TURNS: Final = 3
"""Of a conversation in each round."""
WARM_UP: Final = 5
FEWEST: Final = 2
"""Rounds, whatever the clock says."""
MINUTES: Final = 5.0
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


@dataclass
class Measured:
    """Milliseconds unless said otherwise, one of each for every round."""

    shares: list[float] = field(default_factory=list[float])
    sizes: list[int] = field(default_factory=list[int])
    """Bytes."""
    paints: list[float] = field(default_factory=list[float])
    new: list[float] = field(default_factory=list[float])
    again: list[float] = field(default_factory=list[float])


async def turn(tab: Tab, stack: Stack, number: int) -> float:
    """The milliseconds of a turn that the page took."""
    answer = f"Answer number {number} is this."
    stack.model.say(f"{answer} A second sentence follows it.")
    await tab.page.evaluate("answer => probes.expect(answer)", answer)
    await tab.say(f"Question {number}")
    share: float = await tab.page.evaluate("() => probes.share()")
    await expect(tab.answers.last.get_by_role("button", name="Copy answer")).to_be_visible()
    return share


async def first_load(browser: Browser, stack: Stack) -> tuple[int, float]:
    """The compressed bytes of a first visit until somebody types, and when there was something to see."""
    tab = await opened(browser, stack.url)
    async with tab.page.expect_response(lambda response: "livekit" in response.url) as rest:
        await tab.field.press_sequentially("a")
    await (await rest.value).finished()
    size: int = await tab.page.evaluate("() => probes.bytes()")
    paint: float = await tab.page.evaluate("() => probes.firstPaint()")
    await tab.page.context.close()
    return size, paint


async def open_long(page: Page, conversation_id: str) -> float:
    """Milliseconds from the choice of a conversation until its newest message is painted."""
    took: float = await page.evaluate("id => probes.open(id)", conversation_id)
    return took


async def openings(browser: Browser, stack: Stack, conversation_id: str) -> tuple[float, float]:
    """How long a long conversation takes to open in a new browser, and once more in the same one."""
    tab = await opened(browser, stack.url)
    new = await open_long(tab.page, conversation_id)
    await tab.online()
    await tab.page.locator(".new").click()
    await expect(tab.page.get_by_role("heading", name="What is on your mind?")).to_be_visible()
    again = await open_long(tab.page, conversation_id)
    await tab.page.context.close()
    return new, again


async def scrolling(browser: Browser, stack: Stack, conversation_id: str) -> list[float]:
    """The milliseconds of each frame while somebody scrolls through a long conversation."""
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
    return frames


async def measure(stack: Stack, rounds: int, minutes: float) -> None:
    """Everything in turns, so that a run that the clock ends has measured each thing equally often."""
    end = time.monotonic() + 60 * minutes
    conversation_id = long_history(stack.database_url, "local", COUNT)
    measured = Measured()
    async with launched() as browser:
        frames = await scrolling(browser, stack, conversation_id)
        talking = await opened(browser, stack.url)
        for number in range(WARM_UP):
            await turn(talking, stack, number)
        for number in range(rounds):
            if number >= FEWEST and time.monotonic() > end:
                break
            for each in range(TURNS):
                measured.shares.append(await turn(talking, stack, WARM_UP + number * TURNS + each))
            size, paint = await first_load(browser, stack)
            measured.sizes.append(size)
            measured.paints.append(paint)
            new, again = await openings(browser, stack, conversation_id)
            measured.new.append(new)
            measured.again.append(again)
            print(
                f"round {number + 1} of {rounds}: opened in {new:.0f} ms, again in {again:.0f} ms", flush=True
            )
        shift: float = await talking.page.evaluate("() => probes.shift()")
    report(measured, shift, frames)


def report(measured: Measured, shift: float, frames: list[float]) -> None:
    """Print and keep what was found, and judge it."""
    share, paint, size = p50(measured.shares), p50(measured.paints), max(measured.sizes)
    rate = 1_000 * len(frames) / sum(frames)
    again, new = measured.again, measured.new
    rows = [
        (
            "Enter to first sentence, less the server's share",
            ms(measured.shares),
            f"≤ {SHARE_MS:.0f} ms (p50)",
        ),
        ("first load, compressed", f"{size / 1_000:.0f} kB", f"≤ {LOAD_BYTES / 1_000:.0f} kB"),
        ("first content", ms(measured.paints), f"≤ {PAINT_MS:.0f} ms"),
        (f"layout shift over {len(measured.shares)} turns", f"{shift:.3f}", f"≤ {SHIFT}"),
        (f"{COUNT:,} messages, opened for the first time", ms(new), f"< {OPEN_MS:.0f} ms (p95)"),
        (f"{COUNT:,} messages, opened again", ms(again), f"< {OPEN_MS:.0f} ms (p95)"),
        ("scrolling through them", f"{rate:.1f} frames/s", f"≥ {FRAMES:.0f} frames/s"),
        ("longest frame while scrolling", f"{max(frames):.0f} ms", ""),
    ]
    show("The web client", ("what", "measured", "target"), rows)
    table = ["| what | measured | target |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    about = f"`bench/web.py`, {len(new)} rounds"
    keep(RESULTS, "\n".join(["# The web client", "", about, "", *table]))
    judge(
        [
            ("share of a turn", f"{share:.0f} ms", f"{SHARE_MS:.0f} ms", share <= SHARE_MS),
            ("first load", f"{size} B", f"{LOAD_BYTES} B", size <= LOAD_BYTES),
            ("first content", f"{paint:.0f} ms", f"{PAINT_MS:.0f} ms", paint <= PAINT_MS),
            ("layout shift", f"{shift:.3f}", f"{SHIFT}", shift <= SHIFT),
            ("opened first, p95", f"{p95(new):.0f} ms", f"{OPEN_MS:.0f} ms", p95(new) < OPEN_MS),
            ("opened again, p95", f"{p95(again):.0f} ms", f"{OPEN_MS:.0f} ms", p95(again) < OPEN_MS),
            ("scrolling", f"{rate:.1f}/s", f"{FRAMES:.0f}/s", rate >= FRAMES),
        ]
    )


def p50(values: list[float]) -> float:
    return statistics.median(values)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def ms(values: list[float]) -> str:
    return f"{p50(values):.0f} ms (p50), {p95(values):.0f} ms (p95)"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    arguments.add_argument("--minutes", type=float, default=MINUTES, help="begin no round after so many")
    given = arguments.parse_args()
    servers = ground.Ground(durable=True)
    servers.open()
    try:
        database = ground.postgres().create("web_bench", template=ground.ask("template")["name"])
        with (
            tempfile.TemporaryDirectory() as home,
            Stack(Path(home), database, ground.livekit(), auth=False) as stack,
        ):
            asyncio.run(measure(stack, given.rounds, given.minutes))
    finally:
        servers.close()


if __name__ == "__main__":
    main()

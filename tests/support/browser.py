"""A tab of the web client, in the words of somebody who uses it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal, Protocol, Self
from urllib.parse import urlsplit

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    WebSocket,
    async_playwright,
    expect,
)

BROWSER: Final = "/usr/bin/chromium"
FLAGS: Final = ["--no-sandbox", "--disable-background-networking", "--allow-loopback-in-peer-connection"]

AWAY: Final = ("Failed to load resource", "WebSocket connection to")

Theme = Literal["light", "dark"]
THEMES: Final[tuple[Theme, ...]] = ("light", "dark")
WIDTHS: Final = (360, 1280)
SETTLED: Final = """() => new Promise(requestAnimationFrame).then(() => Promise.allSettled(
    document.getAnimations().filter(each => each instanceof CSSTransition).map(each => each.finished)))"""
"""Until then a colour may be anywhere between two themes."""
SEEN: Final = """css => ({seen: new Promise(done => {
    const look = () => {
        if (!document.querySelector(css)) return
        watching.disconnect()
        done()
    }
    const watching = new MutationObserver(look)
    watching.observe(document, {subtree: true, childList: true, attributes: true})
    look()
})})"""
PLACE: Final = """element => new Promise(done => new IntersectionObserver(([seen], watching) => {
    watching.disconnect()
    done(seen.boundingClientRect.top)
}).observe(element))"""
"""Between two frames a page may be half moved."""
PATIENCE: Final = 30.0
RICH: Final = """\
# A heading

Some **bold**, some `code`, a [link](https://example.org/), and $x^2$.

- [x] done
- [ ] to do

```python
print("hello")  # a comment
```

| a | b |
|---|---|
| 1 | 2 |

> Quoted.
"""
"""An answer with one of everything."""


@asynccontextmanager
async def launched(microphone: Path | None = None) -> AsyncGenerator[Browser]:
    """Debian's Chromium, if need be with a WAV as its microphone; no browser is ever downloaded."""
    flags = [*FLAGS, *(_speaking(microphone) if microphone else [])]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=BROWSER, args=flags)
        try:
            yield browser
        finally:
            await browser.close()


def _speaking(microphone: Path) -> list[str]:
    return [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={microphone}%noloop",
    ]


class Tab:
    """One tab. `faults` are errors in its console, `hosts` all the hosts that it has talked to."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.faults: list[str] = []
        self.hosts: set[str] = set()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._console)
        page.on("request", self._request)
        page.on("websocket", self._socket)

    @classmethod
    async def open(cls, context: BrowserContext, url: str) -> Self:
        tab = cls(await context.new_page(), url)
        await tab.page.goto(url)
        await expect(tab.field).to_be_visible()
        return tab

    @property
    def field(self) -> Locator:
        return self.page.get_by_label("Your message", exact=True)

    @property
    def questions(self) -> Locator:
        return self.page.get_by_role("article", name="You")

    @property
    def answers(self) -> Locator:
        return self.page.get_by_role("article", name="Alicia")

    @property
    def status(self) -> Locator:
        return self.page.locator(".status")

    @property
    def conversation_id(self) -> str:
        return urlsplit(self.page.url).fragment

    async def say(self, text: str) -> None:
        await self.field.fill(text)
        await self.field.press("Enter")

    async def online(self) -> None:
        await expect(self.status).to_have_attribute("data-state", "online")

    async def click(self, name: str, within: Locator | None = None) -> None:
        """Press the button of this name, if need be the one in a part of the page."""
        await (within or self.page).get_by_role("button", name=name, exact=True).click()

    @asynccontextmanager
    async def seeing(self, css: str) -> AsyncGenerator[None]:
        """Wait until this was seen since the block began, however briefly: looks now and then may miss it."""
        watch = await self.page.evaluate_handle(SEEN, css)
        yield
        async with asyncio.timeout(PATIENCE):
            await watch.evaluate("({seen}) => seen")

    async def axe(self, source: str, *widths: int) -> list[Any]:
        """What axe-core finds wrong that is serious or worse, in light and in dark, at each of the widths."""
        # The policy of the page forbids added scripts; this way in is the debugger's.
        await self.page.evaluate(source)
        found: list[Any] = []
        for width in widths or WIDTHS:
            await self.page.set_viewport_size({"width": width, "height": 800})
            for theme in THEMES:
                await self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                await self.page.evaluate(SETTLED)
                found += [[width, theme, fault] for fault in await self._faults_for_some()]
        return found

    async def _faults_for_some(self) -> list[Any]:
        found: list[Any] = await self.page.evaluate(
            """async () => (await axe.run(document)).violations
                .filter(({impact}) => impact === 'serious' || impact === 'critical')
                .map(({id, nodes}) => [id, nodes.map(({html, failureSummary}) => [html, failureSummary])])"""
        )
        return found

    def _console(self, message: ConsoleMessage) -> None:
        # A server that is away shows as failed requests, which some tests bring about.
        if message.type == "error" and not any(words in message.text for words in AWAY):
            self.faults.append(message.text)

    def _request(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).hostname or "")

    def _socket(self, socket: WebSocket) -> None:
        self.hosts.add(urlsplit(socket.url).hostname or "")


async def place(of: Locator) -> float:
    """How far down something is drawn."""
    return await of.evaluate(PLACE)


class OpenTab(Protocol):
    """Opens a tab at the stack's first page, or at another address of it."""

    def __call__(self, url: str | None = None) -> Awaitable[Tab]: ...

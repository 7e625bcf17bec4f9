"""Draw the icons of the web client's manifest from its one picture, web/public/alicia.svg.

.venv/bin/python scripts/icons.py
"""

import asyncio
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import launched  # noqa: E402

PUBLIC = ROOT / "web" / "public"
BACKGROUND = "#5b4bdb"


async def draw(name: str, size: int, *, maskable: bool = False) -> None:
    """A maskable icon may be cut to any shape, so its background goes to the edge."""
    picture = (PUBLIC / "alicia.svg").read_text(encoding="utf-8")
    body = f"margin:0;background:{BACKGROUND if maskable else 'transparent'}"
    inner = f"display:block;width:{size}px;height:{size}px;scale:{0.8 if maskable else 1}"
    async with launched() as browser:
        page = await browser.new_page(viewport={"width": size, "height": size})
        await page.set_content(f'<body style="{body}"><div style="{inner}">{picture}</div></body>')
        await page.screenshot(path=PUBLIC / "icons" / f"{name}.png", omit_background=True)


async def main() -> None:
    await draw("192", 192)
    await draw("512", 512)
    await draw("maskable-512", 512, maskable=True)


if __name__ == "__main__":
    asyncio.run(main())

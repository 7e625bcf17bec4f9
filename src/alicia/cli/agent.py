"""`alicia agent`: one agent worker alone."""

from typing import Annotated

import typer


def agent(notify: Annotated[int | None, typer.Option(hidden=True)] = None) -> None:
    """Run one agent worker alone. SIGTERM and Ctrl-C let running conversations end first."""
    import asyncio
    import os

    # Read when livekit.agents is imported: its own models would be loaded before any room asks for them.
    os.environ.setdefault("LIVEKIT_AGENTS_PRELOAD_LOCAL_INFERENCE", "0")

    from alicia.agent.worker import run
    from alicia.cli.embedding import make_embedder
    from alicia.cli.observing import observed
    from alicia.config import Config
    from alicia.local.notify import READY, tell

    config = Config.from_environ()

    async def work() -> None:
        async with make_embedder(config) as embedder:
            await run(config, embedder, lambda: tell(notify, READY))

    with observed(config, "alicia-agent"):
        asyncio.run(work())

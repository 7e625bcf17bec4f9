"""`alicia api`: the HTTP server alone."""

from typing import Annotated

import typer


def api(notify: Annotated[int | None, typer.Option(hidden=True)] = None) -> None:
    """Run the HTTP server alone. It is one part of a deployment: see docs/deploy.md."""
    import asyncio

    from alicia.api.app import serve
    from alicia.cli.embedding import make_embedder
    from alicia.config import Config
    from alicia.local.notify import READY, tell
    from alicia.telemetry import logs

    config = Config.from_environ()
    logs.set_up(config.log_level)

    async def run() -> None:
        async with make_embedder(config) as embedder:
            await serve(config, lambda: tell(notify, READY), embedder)

    asyncio.run(run())

"""`alicia api`: the HTTP server alone."""

from typing import Annotated

import typer


def api(notify: Annotated[int | None, typer.Option(hidden=True)] = None) -> None:
    """Run the HTTP server alone, for deployments of several machines."""
    import asyncio

    from alicia.api.app import serve
    from alicia.config import Config
    from alicia.local.embedder import LocalEmbedder
    from alicia.local.notify import READY, tell
    from alicia.memory.embeddings import EmbeddingServer
    from alicia.telemetry import logs

    config = Config.from_environ()
    logs.set_up(config.log_level)

    async def run() -> None:
        server = config.embedding
        # The embedded model is loaded by the first memory or search, so it costs nothing until then.
        embedder = (
            EmbeddingServer(server.url, server.model or "default", server.api_key)
            if server
            else LocalEmbedder()
        )
        async with embedder:
            await serve(config, lambda: tell(notify, READY), embedder)

    asyncio.run(run())

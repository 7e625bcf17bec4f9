"""Which model turns texts into vectors: the embedded one, or the operator's."""

from alicia.config import Config
from alicia.local.embedder import LocalEmbedder
from alicia.memory.embeddings import EmbeddingServer


def make_embedder(config: Config) -> LocalEmbedder | EmbeddingServer:
    """Use it as an async context manager. The embedded model is loaded with the first text."""
    server = config.embedding
    if server is None:
        return LocalEmbedder()
    return EmbeddingServer(server.url, server.model or "default", server.api_key)

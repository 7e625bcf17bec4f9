"""What a user's memory holds before a test begins."""

from alicia.local.embedder import LocalEmbedder
from alicia.memory.memory import Memory
from alicia.storage.memories import NewMemory
from alicia.storage.pool import Pool


async def known(pool: Pool, user: str, *contents: str) -> list[str]:
    """Let a user's memory hold these; their ids."""
    async with LocalEmbedder() as embedder:
        new = [NewMemory(content=content, memory_type="profile_attribute") for content in contents]
        return list(await Memory(pool, embedder).add(user, new))

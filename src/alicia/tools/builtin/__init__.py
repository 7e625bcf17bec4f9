"""The tools that Alicia brings herself."""

from alicia.storage.pool import Pool
from alicia.tools.builtin.calculator import calculator
from alicia.tools.builtin.clock import current_time
from alicia.tools.builtin.conversations import search_conversations
from alicia.tools.builtin.memories import Memories, memory_tools
from alicia.tools.definition import Definition


def builtin_tools(pool: Pool, memories: Memories | None = None) -> tuple[Definition, ...]:
    """All of them; without `memories` there is nothing to remember with."""
    remembering = () if memories is None else memory_tools(memories)
    return (calculator, current_time(), search_conversations(pool), *remembering)

"""What a worker's conversations share, opened once."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import structlog

from alicia.config import Config
from alicia.engine.pauses import Pauses
from alicia.engine.services import Services
from alicia.errors import ConfigError, ModelUnavailable
from alicia.ledger.ledger import Ledger
from alicia.llm.chat import LOOPBACK, ChatModel, Patience
from alicia.memory.embeddings import Embedder
from alicia.memory.memory import Memory
from alicia.memory.upkeep import keep_filled
from alicia.storage.pool import Pool, make_pool
from alicia.telemetry import scrape
from alicia.tools.box import Toolbox
from alicia.tools.builtin import builtin_tools
from alicia.tools.builtin.user_memories import UserMemories
from alicia.tools.decision.calling import CallingModel
from alicia.tools.mcp.config import read_config
from alicia.tools.mcp.server import McpServer

log = structlog.get_logger(__name__)

WINDOW: Final = 4096
"""The context window of a model that does not tell its own."""
ANSWER_SHARE: Final = 4
"""One part in so many of the window is kept for the answer."""
LONGEST_ANSWER: Final = 4096
NEAR_RETRIES: Final = 14
"""Half a minute: a model on this machine that does not answer is most likely being loaded."""
WINDOW_EVERY: Final = 10.0
CONNECTIONS: Final = 10
NATIVE: Final = {"auto": None, "native": True, "decide": False}


@asynccontextmanager
async def open_services(config: Config, agent_id: str, embedder: Embedder) -> AsyncGenerator[Services]:
    """The database's pool, the ledger, the model and the tools, for as long as the worker lives."""
    if config.llm is None:
        raise ConfigError("Set ALICIA_LLM_URL, or start everything with `alicia up`.")
    pool = make_pool(config.need_database_url(), max_size=CONNECTIONS, pooler=config.database_pooler)
    near = urlsplit(config.llm.url).hostname in LOOPBACK
    model = ChatModel(
        config.llm.url,
        config.llm.model or "default",
        config.llm.api_key,
        patience=Patience(retries=NEAR_RETRIES) if near else None,
    )
    memory = Memory(pool, embedder, model)
    box = make_toolbox(config, pool, memory)
    async with pool, model, box.open(), asyncio.TaskGroup() as tasks:
        services = Services(
            pool=pool,
            ledger=Ledger(pool, agent_id),
            model=model,
            calling=CallingModel(model, NATIVE[config.llm_tools]),
            tools=box,
            recall=memory,
            lessons=memory,
            pauses=Pauses(one_by_one=near),
            budget=WINDOW - WINDOW // ANSWER_SHARE,
            answer_tokens=WINDOW // ANSWER_SHARE,
        )
        background = [
            tasks.create_task(_learn_window(services, model)),
            tasks.create_task(_warm(embedder)),
            tasks.create_task(keep_filled(pool, embedder)),
            tasks.create_task(_ask_for_calls(services.calling)),
        ]
        try:
            with scrape.pool_use(pool.get_stats):
                yield services
        finally:
            for task in background:
                task.cancel()


def make_toolbox(config: Config, pool: Pool, memory: Memory) -> Toolbox:
    """The built-in tools and those of the MCP servers; ConfigError if their file is not in order."""
    servers = read_config(config.mcp_config, os.environ) if config.mcp_config else ()
    builtin = builtin_tools(pool, UserMemories(memory))
    return Toolbox(builtin, [McpServer(server) for server in servers], pool)


async def _ask_for_calls(model: CallingModel) -> None:
    """Find out whether the model calls tools before the first question waits for that."""
    await model.native()


async def _warm(embedder: Embedder) -> None:
    """Load the model for memories before the first question wants it."""
    try:
        await embedder.embed(["warm"])
        log.info("embeddings ready", model=embedder.model)
    except ModelUnavailable as error:
        log.warning("memories are found by words only", reason=str(error))


async def _learn_window(services: Services, model: ChatModel) -> None:
    """A model that is still being loaded does not tell its window, so it is asked again."""
    while True:
        if window := await model.context_window(0):
            services.answer_tokens = min(window // ANSWER_SHARE, LONGEST_ANSWER)
            services.budget = window - services.answer_tokens
            log.info("context window known", tokens=window)
            return
        await asyncio.sleep(WINDOW_EVERY)

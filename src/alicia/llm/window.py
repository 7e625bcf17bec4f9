"""How large a model's context window is, asked of its server."""

import asyncio
from typing import Any, cast

import openai

from alicia.llm.failures import FAILURES

# Where servers tell it in their list of models: vLLM, LM Studio, OpenRouter, Groq, llama.cpp.
_NAMES = ("max_model_len", "loaded_context_length", "context_length", "context_window", "n_ctx")


async def find_window(client: openai.AsyncOpenAI, url: str, model: str, patience: float) -> int | None:
    """The number of tokens, or None when the server does not tell or does not answer in time."""
    for find, where in ((_from_models, model), (_from_props, url)):
        try:
            async with asyncio.timeout(patience):
                if window := await find(client, where):
                    return window
        except (*FAILURES, TypeError, AttributeError):
            continue
    return None


async def _from_models(client: openai.AsyncOpenAI, model: str) -> int | None:
    listed = (await client.models.list()).data
    entry = next((one for one in listed if one.id == model), listed[0] if len(listed) == 1 else None)
    if entry is None:
        return None
    fields: dict[str, Any] = entry.model_dump()
    meta = fields.get("meta")
    if isinstance(meta, dict):
        fields |= cast(dict[str, Any], meta)
    return next((size for name in _NAMES if isinstance(size := fields.get(name), int) and size > 0), None)


async def _from_props(client: openai.AsyncOpenAI, url: str) -> int | None:
    """llama.cpp tells the size of one slot beside its OpenAI-compatible part."""
    props = await client.get(url.rstrip("/").removesuffix("/v1") + "/props", cast_to=dict[str, Any])
    settings: dict[str, Any] = props.get("default_generation_settings") or {}
    size: Any = settings.get("n_ctx") or props.get("n_ctx")
    return size if isinstance(size, int) and size > 0 else None

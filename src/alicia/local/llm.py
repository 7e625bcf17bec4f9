"""The local language model: llama.cpp behind an OpenAI-compatible address, as a process of its own.

    python -m alicia.local.llm WEIGHTS [NOTIFY]

Its address, name and key are those of ALICIA_LLM_URL, ALICIA_LLM_MODEL and ALICIA_LLM_API_KEY, which the
supervisor sets for this process as for those that call it. NOTIFY is the descriptor to say `warm` on, with
the seconds that it took.
"""

import importlib
import json
import os
import signal
import sys
import time
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from alicia.config import Config, ModelServer
from alicia.engine.prompt import SYSTEM
from alicia.errors import ConfigError
from alicia.local import notify

CONTEXT = 8192
PROMPT_CACHE_MIB = 256
# Answers begin with these words, so their part of the cache is ready when the first question comes.
GREETING = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Hello."}]


def serve(address: ModelServer, weights: str) -> object:
    """Load the weights and serve them; the server lives as long as the object that is returned."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {address.model or "local"}
    where = urlsplit(address.url)
    params.hostnames = [where.hostname or "127.0.0.1"]
    params.port = where.port or 0
    # Pages of other sites can reach loopback too: without the key they get no answer.
    params.api_keys = [address.api_key] if address.api_key else []
    threads = max(1, min(4, os.cpu_count() or 1))
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.no_extra_bufts = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.ui = False
    params.endpoint_slots = False
    return xllamacpp.Server(params)


def warm_up(address: ModelServer) -> None:
    """Have one token made, so that the weights are in memory when the first question comes."""
    request = urllib.request.Request(  # noqa: S310
        f"{address.url}/chat/completions",
        json.dumps({"messages": GREETING, "max_tokens": 1}).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {address.api_key}"},
    )
    with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310
        answer.read()


def main(weights: str, descriptor: int | None = None) -> None:
    """Serve until SIGTERM or SIGINT."""
    address = Config.from_environ().llm
    if address is None:
        raise ConfigError("Set ALICIA_LLM_URL to the address that the local language model is to have.")
    began = time.monotonic()
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    server = serve(address, weights)
    warm_up(address)
    notify.tell(descriptor, f"{notify.WARM} {time.monotonic() - began:.1f}")
    signal.sigwait(ends)
    del server


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in sys.argv[2:3]))

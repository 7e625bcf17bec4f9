"""What a call works with: who is calling, and a connection to the database."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from alicia.api.auth import Auth, Caller
from alicia.api.limits import Limits
from alicia.api.problems import Problem
from alicia.api.rooms import Rooms
from alicia.config import ModelServer
from alicia.errors import ModelUnavailable
from alicia.ledger.ledger import Ledger
from alicia.memory.embeddings import Embedder
from alicia.memory.recall import Searcher
from alicia.storage.memories import Embedding
from alicia.storage.pool import Connection, Pool


class NoEmbedder:
    """Stands in where no embedding model is to be had."""

    model = "none"

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Never any."""
        raise ModelUnavailable("There is no embedding model here.")


@dataclass(frozen=True)
class Services:
    """What all calls share."""

    pool: Pool
    ledger: Ledger
    auth: Auth
    rooms: Rooms
    embedder: Embedder
    searcher: Searcher
    text_to_speech: ModelServer | None = None
    """None: the local model."""
    limits: Limits = field(default_factory=Limits)


# All of these are coroutines although some never wait, since FastAPI runs plain functions in threads. Each
# takes the request itself, since every further step of FastAPI's costs a good part of a short query.


async def services(request: Request) -> Services:
    """The application's; they are made by its lifespan, in its loop."""
    return request.app.state.services


async def caller(request: Request) -> Caller:
    """Who is calling; Problem 401 when that is not proven."""
    return await (await services(request)).auth(request)


async def user(request: Request) -> str:
    """The caller's name, which every query is scoped to."""
    return (await caller(request)).user


async def writer(request: Request) -> str:
    """The caller's name, counted as one more write."""
    name = await user(request)
    (await services(request)).limits.writes.take(name)
    return name


async def administrator(request: Request) -> str:
    """The caller's name if they may change what concerns all users."""
    if not (await caller(request)).admin:
        raise Problem(403, "This concerns all users: it needs a token made with `alicia token --admin`.")
    return await writer(request)


async def connection(request: Request) -> AsyncGenerator[Connection]:
    """A connection for the length of the call, given back before the answer is sent."""
    async with (await services(request)).pool.connection() as conn:
        yield conn


Shared = Annotated[Services, Depends(services)]
TheCaller = Annotated[Caller, Depends(caller)]
User = Annotated[str, Depends(user)]
Writer = Annotated[str, Depends(writer)]
Administrator = Annotated[str, Depends(administrator)]
Conn = Annotated[Connection, Depends(connection, scope="function")]

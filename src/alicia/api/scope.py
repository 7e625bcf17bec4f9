"""What a call works with: who is calling, and a connection to the database."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from alicia.api.auth import Auth, Caller
from alicia.api.limits import Limits
from alicia.api.problems import Problem
from alicia.api.rooms import Rooms
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
    limits: Limits = field(default_factory=Limits)


def services(request: Request) -> Services:
    """The application's; they are made by its lifespan, in its loop."""
    return request.app.state.services


Shared = Annotated[Services, Depends(services)]


async def caller(request: Request, shared: Shared) -> Caller:
    """Who is calling; Problem 401 when that is not proven."""
    return await shared.auth(request)


TheCaller = Annotated[Caller, Depends(caller)]


def user(known: TheCaller) -> str:
    """The caller's name, which every query is scoped to."""
    return known.user


def writer(known: TheCaller, shared: Shared) -> str:
    """The caller's name, counted as one more write."""
    shared.limits.writes.take(known.user)
    return known.user


def administrator(known: TheCaller, shared: Shared) -> str:
    """The caller's name if they may change what concerns all users."""
    if not known.admin:
        raise Problem(403, "This concerns all users: it needs a token made with `alicia token --admin`.")
    return writer(known, shared)


async def connection(shared: Shared) -> AsyncGenerator[Connection]:
    """A connection for the length of the call, given back before the answer is sent."""
    async with shared.pool.connection() as conn:
        yield conn


User = Annotated[str, Depends(user)]
Writer = Annotated[str, Depends(writer)]
Administrator = Annotated[str, Depends(administrator)]
Conn = Annotated[Connection, Depends(connection, scope="function")]

"""One conversation's log: append, replay, and the questions that are asked before and after."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import msgspec
import psycopg
from msgspec import Struct
from psycopg.types.json import Jsonb

from alicia.errors import DatabaseUnavailable, LocalProtocolError, NotFound, StandDown
from alicia.ids import ConversationId
from alicia.ledger import erase, journal, lease, messages, notes, sounds, steps
from alicia.ledger.batch import Batch, write
from alicia.ledger.entries import Entry
from alicia.ledger.known import Known, lookup
from alicia.protocol.envelope import Envelope, encode
from alicia.protocol.messages import AudioChunk, Body, Map
from alicia.protocol.session import AgentSession
from alicia.storage.conversations import Conversation
from alicia.storage.pool import AWAY, Connection, Pool, reaching
from alicia.storage.rows import fetch_one
from alicia.storage.wishes import wishes
from alicia.telemetry.tracing import span

T = TypeVar("T")

WRITERS = (messages, steps, sounds, notes)
"""The modules whose functions write the bodies; importing them registers these."""


class _Attempt(Struct):
    """An append whose outcome is not known yet, or whose envelopes its caller did not get."""

    envelopes: list[Envelope]
    data: list[bytes]
    accepted: Envelope | None

    @property
    def told(self) -> list[tuple[object, Map | None]]:
        """What was to be appended."""
        return [(envelope.body, envelope.meta) for envelope in self.envelopes]


class Ledger:
    """What writes conversations. `agent_id` names the lease's holder; without one the lease is not regarded.

    `patience` is for how many seconds an append looks for a database that is away.
    """

    def __init__(self, pool: Pool, agent_id: str | None = None, *, patience: float = 5.0) -> None:
        self._pool = pool
        self._agent_id = agent_id
        self._patience = patience
        self._locks: WeakValueDictionary[ConversationId, asyncio.Lock] = WeakValueDictionary()
        self._unsettled: WeakKeyDictionary[AgentSession, _Attempt] = WeakKeyDictionary()
        self._unpublished: WeakKeyDictionary[AgentSession, list[_Attempt]] = WeakKeyDictionary()

    async def create(
        self,
        conversation_id: ConversationId,
        user_id: str,
        *,
        title: str = "",
        preferences: Map | None = None,
    ) -> Conversation:
        """Make the conversation's row unless it is there; NotFound when it is another user's."""

        async def insert(conn: Connection) -> None:
            await conn.execute(
                """
                INSERT INTO alicia_conversations (id, user_id, livekit_room_name, title, preferences)
                VALUES (%(id)s, %(user_id)s, %(id)s, %(title)s, %(preferences)s)
                    ON CONFLICT (id) DO NOTHING
                """,
                {
                    "id": conversation_id,
                    "user_id": user_id,
                    "title": title,
                    "preferences": Jsonb(preferences or {}),
                },
            )

        await self._run(insert)
        return await self.load(conversation_id, user_id)

    async def load(self, conversation_id: ConversationId, user_id: str | None = None) -> Conversation:
        """The conversation's row, of which `session_of` makes a session; NotFound if not this user's."""
        found = await self._run(
            lambda conn: fetch_one(
                conn,
                Conversation,
                """
                SELECT id, user_id, livekit_room_name, title, status, preferences, last_client_stanza_id,
                       last_server_stanza_id, agent_id, agent_seen_at, created_at, updated_at, deleted_at
                  FROM alicia_conversations
                 WHERE id = %(id)s
                   AND (%(user_id)s::text IS NULL OR user_id = %(user_id)s)
                """,
                {"id": conversation_id, "user_id": user_id},
            )
        )
        if found is None:
            raise NotFound(f"There is no conversation {conversation_id}.")
        return found

    async def preferences(self, row: Conversation) -> Map:
        """What holds in a conversation: its own preferences, and where it has none its user's wishes."""
        made = await self._run(lambda conn: wishes(conn, row.user_id))
        return {**msgspec.to_builtins(made), **row.preferences}

    async def append(
        self, session: AgentSession, *entries: Entry | Body, accepted: Envelope | None = None
    ) -> list[bytes]:
        """Store the entries in one transaction, move the session, and give the envelopes to publish.

        `accepted` is the client's envelope that the first entry answers. Appends of one conversation take
        turns. StandDown: another agent writes this conversation now. DatabaseUnavailable: PostgreSQL was away
        for too long; the next append finds out whether these entries were stored, and when they were, gives
        their envelopes too (alone, if it is asked to append the same again).
        """
        listed = [entry if isinstance(entry, Entry) else Entry(entry) for entry in entries]
        if not listed:
            raise LocalProtocolError("an append needs at least one entry")
        async with self._lock(session.conversation_id):
            await self._settle(session)
            told = [(_wire(entry.body), entry.meta) for entry in listed]
            if self._unpublished.get(session) and self._unpublished[session][-1].told == told:
                return self._to_publish(session)
            envelopes = session.stamp_durable(told)
            attempt = _Attempt(envelopes, [encode(envelope) for envelope in envelopes], accepted)
            batch = Batch()
            journal.write_journal(
                batch,
                envelopes,
                attempt.data,
                agent_id=self._agent_id,
                client_stanza_id=accepted.stanza_id if accepted else None,
            )
            for entry in listed:
                write(batch, entry)
            await self._store(session, batch, attempt)
            return self._to_publish(session)

    async def known(self, conversation_id: ConversationId, body: Body) -> Known:
        """Whether what a client sent is stored already, and what is to be appended if it is not.

        RemoteProtocolError when it names something that is not in this conversation.
        """
        return await self._run(lambda conn: lookup(conn, conversation_id, body))

    def replay(self, conversation_id: ConversationId, after: int = 0) -> AsyncGenerator[bytes]:
        """The envelopes after the durable stanza `after`, oldest first, byte for byte."""
        return journal.replay(self._pool, conversation_id, after)

    async def journaled(self, conversation_id: ConversationId, stanza_id: int) -> bool:
        """Whether the journal has this stanza: what a client that resumes from it holds is this history."""
        _, data = await self._run(lambda conn: journal.journaled(conn, conversation_id, [stanza_id]))
        return stanza_id == 0 or bool(data)

    async def missed(self, conversation_id: ConversationId, after: int) -> int:
        """How many envelopes a replay from here has at least."""
        return await self._run(lambda conn: journal.missed(conn, conversation_id, after))

    async def claim(self, conversation_id: ConversationId, quiet: timedelta = lease.QUIET) -> bool:
        """Take or renew the lease; False while another agent holds it and was heard of lately."""
        return await self._run(lambda conn: lease.claim(conn, conversation_id, self._agent(), quiet))

    async def heartbeat(self, conversation_id: ConversationId) -> None:
        """Say that the owner lives; StandDown when the lease is no longer its own."""
        await self._run(lambda conn: lease.heartbeat(conn, conversation_id, self._agent()))

    async def release(self, conversation_id: ConversationId) -> None:
        """Give the lease up, if it is still held and nothing is unfinished."""
        await self._run(lambda conn: lease.release(conn, conversation_id, self._agent()))

    async def abandoned(self, quiet: timedelta = lease.QUIET, limit: int = 100) -> list[ConversationId]:
        """Conversations with something unfinished and no living owner: claim one, load it, and finish it."""
        return await self._run(lambda conn: lease.abandoned(conn, quiet, limit))

    async def erase_message(self, owner: str, message_id: str) -> dict[ConversationId, list[str]]:
        """Erase a message and all that made it; what to tell each conversation's devices in an Erasure."""
        return await self._run(lambda conn: erase.erase_message(conn, owner, message_id))

    async def erase_conversation(self, owner: str, conversation_id: str) -> dict[ConversationId, list[str]]:
        """Erase all that a conversation holds."""
        return await self._run(lambda conn: erase.erase_conversation(conn, owner, conversation_id))

    async def erase_memory(self, owner: str, memory_id: str) -> dict[ConversationId, list[str]]:
        """Erase a memory and every trace of its use."""
        return await self._run(lambda conn: erase.erase_memory(conn, owner, memory_id))

    async def erase_user(self, owner: str) -> dict[ConversationId, list[str]]:
        """Erase all that a user has: conversations, memories, notes, settings, and the name itself."""
        return await self._run(lambda conn: erase.erase_user(conn, owner))

    async def pending_erasures(self, conversation_id: ConversationId) -> list[str]:
        """What was erased and not yet told to the devices; appending an Erasure with these ids settles it.

        Ask when whatever was being written to them has stopped: that is erased now too.
        """
        return await self._run(lambda conn: erase.pending(conn, conversation_id))

    def _agent(self) -> str:
        if self._agent_id is None:
            raise LocalProtocolError("this ledger has no agent id, so it can hold no lease")
        return self._agent_id

    def _lock(self, conversation_id: ConversationId) -> asyncio.Lock:
        return self._locks.setdefault(conversation_id, asyncio.Lock())

    async def _run(self, work: Callable[[Connection], Coroutine[Any, Any, T]]) -> T:
        with reaching():
            async with self._pool.connection() as conn:
                return await work(conn)

    async def _settle(self, session: AgentSession) -> None:
        """Learn what became of an append that ended in DatabaseUnavailable or was cancelled."""
        if attempt := self._unsettled.get(session):
            stored = await self._run(lambda conn: _is_stored(conn, attempt))
            del self._unsettled[session]
            if stored:
                self._stored(session, attempt)

    async def _store(self, session: AgentSession, batch: Batch, attempt: _Attempt) -> None:
        self._unsettled[session] = attempt
        try:
            with span("commit", conversation_id=session.conversation_id, stanzas=len(attempt.data)):
                await self._commit(batch, attempt)
        except (LocalProtocolError, StandDown, NotFound):
            del self._unsettled[session]
            raise
        del self._unsettled[session]
        self._stored(session, attempt)

    def _stored(self, session: AgentSession, attempt: _Attempt) -> None:
        session.committed(attempt.envelopes, attempt.accepted)
        self._unpublished.setdefault(session, []).append(attempt)

    def _to_publish(self, session: AgentSession) -> list[bytes]:
        return [data for attempt in self._unpublished.pop(session) for data in attempt.data]

    async def _commit(self, batch: Batch, attempt: _Attempt) -> None:
        """Send the batch until it is known to be stored, or known not to be."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        pause, doubtful = 0.05, False
        while True:
            try:
                async with self._pool.connection(timeout=max(0.1, deadline - loop.time())) as conn:
                    if doubtful and await _is_stored(conn, attempt):
                        return
                    doubtful = True
                    await batch.send(conn)
                    return
            except psycopg.errors.NotNullViolation as error:
                # The fence did not hold. A try whose answer was lost may be what moved the counter.
                if error.diag.table_name != "alicia_stanzas":
                    raise _unfit(error) from error
                if await self._run(lambda conn: _is_stored(conn, attempt)):
                    return
                raise _stand_down(attempt) from None
            except (psycopg.IntegrityError, psycopg.DataError) as error:
                raise _unfit(error) from error
            except AWAY as error:
                if loop.time() + pause >= deadline:
                    raise DatabaseUnavailable(f"PostgreSQL did not answer: {error}") from error
                # Connections that died with a server are found and replaced before they are tried in turn.
                with suppress(*AWAY):
                    await self._pool.check()
                await asyncio.sleep(pause)
                pause = min(2 * pause, 1.0)


def session_of(conversation: Conversation) -> AgentSession:
    """The agent's end of a conversation, where its row says that it stands."""
    return AgentSession(
        conversation.id, conversation.last_server_stanza_id, conversation.last_client_stanza_id
    )


async def _is_stored(conn: Connection, attempt: _Attempt) -> bool:
    """Own bytes in the journal: True. Nothing, and nobody else wrote: False. Otherwise StandDown."""
    first = attempt.envelopes[0]
    numbers = [envelope.stanza_id for envelope in attempt.envelopes]
    head, found = await journal.journaled(conn, first.conversation_id, numbers)
    if head is None:
        raise NotFound(f"There is no conversation {first.conversation_id}.")
    if found == attempt.data:
        return True
    if found or head != first.previous_stanza_id:
        raise _stand_down(attempt)
    return False


def _stand_down(attempt: _Attempt) -> StandDown:
    return StandDown(f"Another agent writes {attempt.envelopes[0].conversation_id} now.")


def _unfit(error: psycopg.Error) -> LocalProtocolError:
    return LocalProtocolError(f"the rows of this append do not fit the database: {error}")


def _wire(body: Body) -> Body:
    return sounds.without_sound(body) if isinstance(body, AudioChunk) else body

"""What an application hears: bodies of the log in order, transient ones, and changes of the connection."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Self, TypeAlias

from alicia.client.errors import Closed
from alicia.protocol.messages import Body, Tombstone

UNHEARD: Final = 10_000
"""So many events wait for the first listener to everything; then nobody is expected to listen."""


class State(StrEnum):
    """How the conversation is connected."""

    CONNECTING = "connecting"
    """Being joined, or waiting for an agent."""
    ONLINE = "online"
    """An agent has answered: what is sent now is stored now."""
    OFFLINE = "offline"
    """Not to be had at the moment: what is sent waits in the outbox, and the connection is tried again."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """The connection is in another state now, and why."""

    state: State
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LogRestarted:
    """The server does not know what this client had: forget it, the whole log follows."""


Event: TypeAlias = Body | Tombstone | StateChange | LogRestarted


class _Item(NamedTuple):
    event: Event
    previous: int | None
    """Where the cursor stood before it, if it is part of the log."""


class Subscription:
    """An async iterator of events. An event counts as handled when the next one is asked for.

    With `wanted`, only the events for which it returns true come, and those of the log may be forgotten when
    the process dies; without it the cursor on disk waits until they are handled.
    """

    def __init__(self, hub: "Hub", wanted: Callable[[Event], bool] | None = None) -> None:
        self._hub = hub
        self._wanted = wanted
        self._items: deque[_Item] = deque()
        self._current: _Item | None = None
        self._arrival = asyncio.Event()
        self._ended: BaseException | None = None

    @property
    def listens_to_all(self) -> bool:
        return self._wanted is None

    def __len__(self) -> int:
        return len(self._items)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        self._current = None
        self._hub.handled()
        while not self._items:
            if self._ended is not None:
                if isinstance(self._ended, StopAsyncIteration):
                    raise StopAsyncIteration
                raise self._ended
            self._arrival.clear()
            await self._arrival.wait()
        self._current = self._items.popleft()
        return self._current.event

    def take(self, item: _Item) -> None:
        if self._ended is None and (self._wanted is None or self._wanted(item.event)):
            self._items.append(item)
            self._arrival.set()

    def end(self, reason: BaseException | None = None) -> None:
        """Nothing more comes; what is waiting is still given out, then `reason`, if any, is raised."""
        if self._ended is None:
            self._ended = reason or StopAsyncIteration()
        self._arrival.set()

    def close(self) -> None:
        """Stop listening; what a listener to everything has not heard waits for the next one."""
        if self.listens_to_all and self._hub.take_back(self):
            return
        self.end()
        self._items.clear()
        self._current = None
        self._hub.forget(self)

    def unhandled(self) -> int | None:
        """Where the cursor stood before the oldest event of the log that is not handled yet."""
        if not self.listens_to_all:
            return None
        if self._current is not None and self._current.previous is not None:
            return self._current.previous
        return next((item.previous for item in self._items if item.previous is not None), None)


class Hub:
    """Hands every event to every subscription."""

    def __init__(self, *, unheard: int | None = UNHEARD) -> None:
        self.handled: Callable[[], None] = lambda: None
        """Called whenever an event has been handled."""
        self._unheard = unheard
        self.ever_claimed = False
        """Whether the application listens to everything at all."""
        self._given_up = False
        self._failure: BaseException | None = None
        self._unclaimed: Subscription | None = Subscription(self)
        self._subscriptions: list[Subscription] = [self._unclaimed]

    def subscribe(self, wanted: Callable[[Event], bool] | None = None) -> Subscription:
        """Listen. The first subscription to everything also gets what came before it."""
        if wanted is None and self._unclaimed is not None:
            claimed, self._unclaimed = self._unclaimed, None
            self.ever_claimed = True
            return claimed
        subscription = Subscription(self, wanted)
        self._subscriptions.append(subscription)
        if self._failure is not None:
            subscription.end(self._failure)
        return subscription

    def publish(self, event: Event, previous: int | None = None) -> None:
        item = _Item(event, previous)
        for subscription in tuple(self._subscriptions):
            subscription.take(item)
        if self._unclaimed and self._unheard is not None and len(self._unclaimed) > self._unheard:
            self.give_up_unclaimed()

    def take_back(self, subscription: Subscription) -> bool:
        """Keep a subscription for the next listener, unless there is one to keep already."""
        if self._unclaimed is None and not self._given_up:
            self._unclaimed = subscription
        return self._unclaimed is subscription

    def give_up_unclaimed(self) -> None:
        """Nobody is expected to listen to everything, so nothing waits for that."""
        if self._unclaimed is not None:
            unclaimed, self._unclaimed, self._given_up = self._unclaimed, None, True
            unclaimed.close()

    def forget(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def end(self, reason: BaseException | None = None) -> None:
        """Nothing more comes: listeners to everything end, or get the reason; who waits for something special
        is told at least that the conversation is closed."""
        self._failure = reason or Closed("The conversation is closed.")
        for subscription in self._subscriptions:
            subscription.end(reason if subscription.listens_to_all else self._failure)

    def handled_cursor(self, accepted: int | None) -> int | None:
        """The last stanza that every listener to everything has handled; `accepted` is the newest of all."""
        waiting = [previous for each in self._subscriptions if (previous := each.unhandled()) is not None]
        if accepted is None or not waiting:
            return accepted
        return max(accepted, *waiting)

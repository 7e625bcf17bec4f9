"""The devices of one conversation: who is in the room, and who is up to date."""

from collections.abc import Iterator

import msgspec

from alicia.protocol.messages import Configuration


class Device(msgspec.Struct, kw_only=True):
    """A participant that the API let in for the conversation's owner."""

    identity: str
    streaming: bool = True
    voice: bool = False
    """It wants to hear answers, not only to read them."""
    ready: bool = False
    """It has had its replay; live stanzas may follow."""
    configured: bool = False
    time_zone: str | None = None
    """The IANA name of the user's time zone, if it has told."""
    errors: int = 0
    """How many of its stanzas in a row were mistakes."""

    def configure(self, body: Configuration) -> None:
        self.configured = True
        self.ready = False
        self.streaming = body.features is None or "streaming" in body.features
        self.voice = body.features is not None and "voice" in body.features
        zone = (body.preferences or {}).get("timeZone")
        self.time_zone = zone if isinstance(zone, str) else None


class Devices:
    """Devices by identity."""

    def __init__(self) -> None:
        self.gone: set[str] = set()
        """Who has left: what such a device sent before that may still come, and does not bring it back."""
        self._devices: dict[str, Device] = {}

    def __iter__(self) -> Iterator[Device]:
        return iter(self._devices.values())

    def __len__(self) -> int:
        return len(self._devices)

    def come(self, identity: str) -> None:
        self.gone.discard(identity)

    def join(self, identity: str) -> Device:
        return self._devices.setdefault(identity, Device(identity=identity))

    def leave(self, identity: str) -> None:
        self._devices.pop(identity, None)
        self.gone.add(identity)

    def get(self, identity: str) -> Device | None:
        return self._devices.get(identity)

    def time_zone(self, identity: str | None) -> str | None:
        """The time zone of this device, or else of any."""
        device = self._devices.get(identity or "")
        known = [each.time_zone for each in ([device] if device else [*self]) if each.time_zone]
        return known[0] if known else None

    def ready(self) -> list[str]:
        """Who gets live stanzas."""
        return [device.identity for device in self if device.ready]

    def streaming(self) -> bool:
        """Whether sentences go out one by one; with nobody here they do, for whoever comes back."""
        configured = [device for device in self if device.configured]
        return not configured or any(device.streaming or device.voice for device in configured)

    def listening(self) -> bool:
        """Whether answers are said aloud; to a device that only reads they cost no sound."""
        return any(device.voice for device in self)

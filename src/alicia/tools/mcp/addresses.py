"""Keeps tools that reach out from reaching in: no loopback, no private network, no cloud's metadata."""

import asyncio
import contextlib
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, cast

import httpcore2
import httpx2

_UNICAST: Final = IPv6Network("2000::/3")
"""All of IPv6 that is the public internet's, but for blocks within that are not."""
_NAT64: Final = IPv6Network("64:ff9b::/96")


def is_private(address: str) -> bool:
    """Whether this is an IP address that is not one of the public internet's; names are not."""
    try:
        parsed: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address):
        embedded = _embedded(parsed)
        if embedded is None and parsed not in _UNICAST:
            return True
        parsed = embedded or parsed
    return not parsed.is_global or parsed.is_multicast


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address at which packets to this one arrive in the end."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


class PublicTransport(httpx2.AsyncHTTPTransport):
    """Connects to public addresses only, whatever a name resolves to and wherever an answer redirects.

    A proxy of the environment's is not used: it would resolve names by itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpx2.create_ssl_context(), network_backend=_PublicNetwork()
        )


class _PublicNetwork(httpcore2.AsyncNetworkBackend):
    def __init__(self) -> None:
        self._network = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the base class has it
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        # Resolved here and dialled by number: a name cannot be public when asked and private when dialled.
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore2.ConnectError(f"{host} cannot be resolved") from error
        public = [str(each[4][0]) for each in found if not is_private(str(each[4][0]))]
        if not public:
            raise httpcore2.ConnectError(f'{host} is a private address; "allowPrivate": true would allow it')
        *first, last = public
        for address in first:
            with contextlib.suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
        return await self._network.connect_tcp(last, port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

"""Servers behind private addresses are dialled only where that is allowed."""

import asyncio
import socket
from collections.abc import AsyncIterator

import httpx2
import pytest

from alicia.tools.mcp.addresses import PublicTransport, is_private


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "10.0.0.5", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.5"),
    ],
)
def test_addresses_that_are_not_the_public_internets_are_private(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_public_addresses_are_not(address: str) -> None:
    assert not is_private(address)


@pytest.fixture
async def visits() -> AsyncIterator[tuple[int, list[object]]]:
    """A port of this machine, and who came there."""
    came: list[object] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(writer.get_extra_info("peername"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], came
    server.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])
async def test_nothing_of_this_machine_is_dialled_by_whatever_name(
    visits: tuple[int, list[object]], host: str
) -> None:
    port, came = visits
    async with httpx2.AsyncClient(transport=PublicTransport(), trust_env=False) as client:
        with pytest.raises(httpx2.ConnectError, match="private address"):
            await client.get(f"http://{host}:{port}/")
    assert came == []


async def test_a_name_is_resolved_once_so_that_no_second_answer_counts(
    visits: tuple[int, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, came = visits
    answers = ["192.0.2.1", "127.0.0.1"]

    async def resolve(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    async with httpx2.AsyncClient(transport=PublicTransport(), trust_env=False) as client:
        with pytest.raises(httpx2.ConnectError, match="private address"):
            await client.get(f"http://rebinding.example:{port}/")
    # One question to the resolver, whose answer is what would have been dialled.
    assert answers == ["127.0.0.1"]
    assert came == []

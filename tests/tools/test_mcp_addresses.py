"""Servers behind private addresses are dialled only where that is allowed."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any, cast

import httpcore2
import httpx2
import pytest

from alicia.tools.mcp.addresses import PublicTransport, is_private


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "10.0.0.5", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.5", "::127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a00:5"),
        *(
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:5::1",
            "fec0::1",
            "2001:0:0:1::1",
            "2001:db8::1",
            "5f00::1",
        ),
    ],
)
def test_addresses_that_are_not_the_public_internets_are_private(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"),
        *("64:ff9b::1.1.1.1", "2002:101:101::1"),
    ],
)
def test_public_addresses_are_not(address: str) -> None:
    assert not is_private(address)


@pytest.fixture
async def visits() -> AsyncIterator[tuple[int, list[object]]]:
    """A port of this machine where all are sent on to it again, and who came there."""
    came: list[object] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(writer.get_extra_info("peername"))
        inwards = f"Location: http://127.0.0.1:{port}/inside\r\n"
        answer = f"HTTP/1.1 307 Temporary Redirect\r\n{inwards}Content-Length: 0\r\nConnection: close\r\n\r\n"
        writer.write(answer.encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield port, came
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


def world(monkeypatch: pytest.MonkeyPatch, port: int, *answering: str) -> list[str]:
    """Let these public addresses lead to the port; the list grows by what is dialled."""
    dialled: list[str] = []
    # Its own types say nothing of a way to connect.
    network = cast("Any", httpcore2.AnyIOBackend)
    connect = network.connect_tcp

    async def elsewhere(backend: object, host: str, _: int, *rest: Any) -> httpcore2.AsyncNetworkStream:
        dialled.append(host)
        if host not in answering:
            raise httpcore2.ConnectError("nobody there")
        return await connect(backend, "127.0.0.1", port, *rest)

    monkeypatch.setattr(network, "connect_tcp", elsewhere)
    return dialled


async def test_a_redirect_to_this_machine_is_not_followed(
    visits: tuple[int, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, came = visits
    dialled = world(monkeypatch, port, "93.184.216.34")
    async with httpx2.AsyncClient(transport=PublicTransport(), follow_redirects=True) as client:
        with pytest.raises(httpx2.ConnectError, match="private address"):
            await client.get("http://93.184.216.34/")
    assert dialled == ["93.184.216.34"]
    assert len(came) == 1


async def test_of_several_addresses_the_first_that_answers_is_taken_and_no_private_one_is_tried(
    visits: tuple[int, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, came = visits
    dialled = world(monkeypatch, port, "1.1.1.1", "9.9.9.9")

    async def resolve(*_: object, **__: object) -> list[tuple[object, ...]]:
        found = ("8.8.8.8", "10.0.0.1", "1.1.1.1", "9.9.9.9")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 80)) for each in found]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    async with httpx2.AsyncClient(transport=PublicTransport()) as client:
        assert (await client.get("http://many.example/")).is_redirect
    assert dialled == ["8.8.8.8", "1.1.1.1"]
    assert len(came) == 1


async def test_a_proxy_of_the_environment_is_not_asked_to_reach_a_server(
    visits: tuple[int, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, came = visits
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    async with httpx2.AsyncClient(transport=PublicTransport()) as client:
        with pytest.raises(httpx2.ConnectError, match="private address"):
            await client.get("http://localhost/")
    assert came == []

"""An MCP server on streamable HTTP: `python -m support.mcp_http PORT [legacy]`."""

import asyncio
import socket
import sys

import uvicorn

from support.mcp_tools import make_server


def bound(port: int = 0) -> socket.socket:
    """A socket on loopback that shares its port: who holds one keeps the port for the next server."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    holder.bind(("127.0.0.1", port))
    return holder


async def main(port: int) -> None:
    app = make_server("http").streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    await server.serve(sockets=[bound(port)])


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))

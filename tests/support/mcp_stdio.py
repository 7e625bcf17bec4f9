"""An MCP server on standard input and output: `python -m support.mcp_stdio`."""

from support.mcp_tools import make_server

if __name__ == "__main__":
    make_server("stdio").run("stdio")

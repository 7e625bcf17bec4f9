"""What Alicia can do: the registry, built-in tools, MCP servers and client tools."""

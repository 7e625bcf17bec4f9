"""MCP servers: which ones, how to reach them, and keeping them up."""

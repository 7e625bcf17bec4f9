"""The commands with which a person manages conversations, memories, tools and data, over the HTTP API."""

"""Language models behind any OpenAI-compatible server, streaming."""

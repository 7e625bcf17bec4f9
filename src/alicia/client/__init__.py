"""The Python SDK: connect, ask, resume."""

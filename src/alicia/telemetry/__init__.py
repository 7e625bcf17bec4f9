"""Logs with ids and without content; traces and metrics."""

"""Logs with ids and without content; traces and metrics.

    with span("recall", message_id=answer_id):
        …

times a stage, and records it where traces are collected. Nothing here ever sees what was said.
"""

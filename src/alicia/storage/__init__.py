"""The database: its schema, its connections, and reads that give typed rows.

Writes to a conversation belong to the ledger; what is written here is what no protocol message carries:
memories, tools, settings, and a conversation's title, status and preferences.
"""

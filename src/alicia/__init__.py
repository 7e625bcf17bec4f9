"""Alicia: a conversational AI that stores every event before it says it."""

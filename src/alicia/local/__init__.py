"""The embedded stack: PostgreSQL, LiveKit and the models on this machine."""

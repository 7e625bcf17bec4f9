"""The LiveKit worker: joins a room and carries bytes between it and the engine."""

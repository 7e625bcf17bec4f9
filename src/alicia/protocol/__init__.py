"""The wire: message types, envelopes and the session state machine; no I/O."""

"""The ledger: every write to a conversation is a protocol message, and every protocol message is a write."""

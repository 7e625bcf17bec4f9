"""What Alicia knows about its user: embedding, recall, learning, forgetting."""

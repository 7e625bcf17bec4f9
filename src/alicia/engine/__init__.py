"""A conversation's life, from a heard message to the last sentence of its answer."""

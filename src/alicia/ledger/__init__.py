"""One body, one write: rows, meta, journal and counters in one transaction."""

"""Self-smoothing: a similarity diffused along itself."""

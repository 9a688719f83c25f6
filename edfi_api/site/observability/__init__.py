"""Health, metrics, and the log of requests."""

"""Where `stream_changes` can send changes."""

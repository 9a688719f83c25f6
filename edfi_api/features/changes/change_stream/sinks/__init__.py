"""The sinks to which `stream_changes` can send changes."""

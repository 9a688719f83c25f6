"""Custom rules for what clients write."""

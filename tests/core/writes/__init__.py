"""Rules of the host for what clients write."""

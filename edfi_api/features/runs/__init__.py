"""Reports of runs: what a client has sent and read, counted by minute after the answers."""

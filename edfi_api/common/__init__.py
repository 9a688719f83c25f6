"""What every storey uses: the settings, addresses, logs, limits of memory, arguments of commands."""

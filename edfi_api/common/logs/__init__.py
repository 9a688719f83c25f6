"""Log lines, the audit log, the correlation id and the address of a client."""

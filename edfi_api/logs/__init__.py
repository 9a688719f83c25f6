"""Log lines, the audit log, the address of a client."""

"""SQL values and fixed statements: composed, prepared, executed and retried."""

"""What administrators and operators use: the admin, checks, monitoring."""

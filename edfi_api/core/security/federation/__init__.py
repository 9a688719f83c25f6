"""Access tokens of other identity providers: which are accepted, and for which API client."""

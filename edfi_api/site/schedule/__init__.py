"""Commands that are started at their times."""

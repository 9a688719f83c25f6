"""Capabilities in addition to the API: each has its models, work, pages, commands and migrations in a folder."""

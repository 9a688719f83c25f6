"""Identities and references: natural keys, referential ids, and the tables of aliases and references."""

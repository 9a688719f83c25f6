"""Writes of documents: what every way to write has in common, and the rules of the operator."""

"""JSON Lines and CSV → documents; documents → JSON Lines."""

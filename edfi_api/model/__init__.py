"""What the API offers: MetaEd text → model → surface, and the formats made from them. Pure Python."""

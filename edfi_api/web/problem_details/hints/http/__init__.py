"""The hints of a refused request."""

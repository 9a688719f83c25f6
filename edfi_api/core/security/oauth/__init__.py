"""The token endpoint of the API, and the introspection of tokens by their bearers."""

"""The addresses below `v2`, as Ed-Fi's Admin API 2 has them: a translation of the collections of `v3`."""

"""The addresses below `v2`, as Ed-Fi's Admin API 2 has them: other shapes over the collections of `v3`."""

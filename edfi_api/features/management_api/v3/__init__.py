"""The addresses below `v3`, as Ed-Fi's Configuration Service has them."""

"""Official descriptor XML, and the values bundled with a data standard → documents."""

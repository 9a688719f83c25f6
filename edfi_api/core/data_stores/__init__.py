"""Data stores: databases with documents beside the admin database, and which of them answers a request. See
meadowlark/docs/operate/data-stores.md."""

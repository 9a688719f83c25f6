"""Data stores: databases with documents in addition to the admin database, and which of them answers a request. See
meadowlark/docs/operate/data-stores.md."""

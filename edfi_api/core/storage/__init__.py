"""The only writer of documents."""

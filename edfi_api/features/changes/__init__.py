"""What changed: versions of documents, deletes and key changes, and their delivery."""

"""Many writes in one request. See meadowlark/docs/batch.md."""

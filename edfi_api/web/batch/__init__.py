"""Many writes in one request. See meadowlark/docs/use/batch.md."""

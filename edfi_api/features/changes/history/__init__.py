"""The history of documents, for clients that may read it. See meadowlark/docs/use/history.md."""

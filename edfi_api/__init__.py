"""The API: the model, the documents, and all that is generated from the model. See
meadowlark/docs/design/architecture.md."""

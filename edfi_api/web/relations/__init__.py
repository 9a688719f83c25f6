"""The documents related to a document, in one request."""

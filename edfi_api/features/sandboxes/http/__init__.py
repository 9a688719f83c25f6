"""The sandbox of a client over HTTP, beside the ledger of its refusals."""

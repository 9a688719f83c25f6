"""The ledger of refusals for clients: each sees its own entries. See meadowlark/docs/use/refusals.md."""

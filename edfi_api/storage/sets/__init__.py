"""Writes of many documents with a few statements.

`write` carries out rows of an API's batch, `conflicts` determines which of them the API would refuse if they were
written one by one, `row_refusals` why. `rounds` is the order of those that wait for each other. `statements` has the
SQL, for the batches of the API and those of loads.
"""

from edfi_api.storage.sets.conflicts import resolve_together
from edfi_api.storage.sets.row_refusals import REFUSALS, Refusal
from edfi_api.storage.sets.writing import Row, refused, write

__all__ = ["REFUSALS", "Refusal", "Row", "refused", "resolve_together", "write"]

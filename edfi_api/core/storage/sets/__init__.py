"""Writes of many documents with a few statements.

`writing` writes the rows of an API's batch under a policy, `staging` those of a load, which are copied first, and those
that come with their envelopes from another server. `conflicts` determines which of them the API would refuse if they
were written one by one, and why. `free_order` is the order of those that wait for each other, `statements` the SQL of
both.
"""

from edfi_api.core.storage.rows import Row
from edfi_api.core.storage.sets.conflicts import REFUSALS, Refusal, resolve_together
from edfi_api.core.storage.sets.writing import refused, write, write_alike

__all__ = ["REFUSALS", "Refusal", "Row", "refused", "resolve_together", "write", "write_alike"]

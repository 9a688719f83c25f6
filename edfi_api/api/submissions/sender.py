"""Whose entries are read."""

from dataclasses import dataclass
from typing import Any

# The condition on rows of the ledger, with the parameters of a `Sender`.
SENT = "client = %(client)s AND (%(data_store)s::bigint IS NULL OR data_store = %(data_store)s)"


@dataclass(frozen=True, slots=True)
class Sender:
    """A client, by the id of its row, as far as it wrote to a data store; to any if that is None."""

    client: int
    data_store: int | None

    @property
    def parameters(self) -> dict[str, Any]:
        return {"client": self.client, "data_store": self.data_store}

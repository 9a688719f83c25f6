"""The letter case of stored descriptors, for the documents of a batch."""

from collections.abc import Iterable
from uuid import UUID

from edfi_api.storage import descriptor_casing


class TransactionUris:
    """Within one transaction: what it has written may be rolled back, so nothing is kept beyond it."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._known: dict[UUID, str] = {}

    def __call__(self, ids: Iterable[UUID]) -> dict[UUID, str]:
        wanted = list(ids)
        if unknown := [id_ for id_ in wanted if id_ not in self._known]:
            self._known |= descriptor_casing.read_uris(unknown, self._using)
        return {id_: self._known[id_] for id_ in wanted if id_ in self._known}

    def forget(self) -> None:
        """To be called when descriptors have been written or deleted."""
        self._known.clear()

"""Which documents a process has had refused, and that are not accepted since."""

from collections.abc import Iterable
from uuid import UUID

from edfi_api.core.storage.temporary_database import TemporaryDatabase

_SCHEMA = "CREATE TABLE refused (document BLOB PRIMARY KEY, is_denied INTEGER) WITHOUT ROWID;"


class RefusedOfRun(TemporaryDatabase):
    """Each document once, however often it was refused."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def refuse(self, documents: Iterable[tuple[UUID, bool]]) -> None:
        """Record refused documents, each with whether it was denied."""
        rows = ((document.bytes, is_denied) for document, is_denied in documents)
        self._database.executemany("INSERT OR REPLACE INTO refused VALUES (?, ?)", rows)

    def accept(self, documents: Iterable[UUID]) -> None:
        self._database.executemany("DELETE FROM refused WHERE document = ?", ((each.bytes,) for each in documents))

    def numbers(self) -> tuple[int, int]:
        """How many were refused for other reasons, and how many were denied."""
        counts = dict(self._database.execute("SELECT is_denied, count(*) FROM refused GROUP BY is_denied"))
        return counts.get(0, 0), counts.get(1, 0)

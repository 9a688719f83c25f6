"""Lines that carry their resource, on disk until the turn of that resource comes."""

from collections.abc import Iterator
from typing import NamedTuple

from edfi_api.core.storage.temporary_database import TemporaryDatabase

_SCHEMA = """
CREATE TABLE line (rank INTEGER, source INTEGER, number INTEGER, text BLOB,
                   PRIMARY KEY (rank, source, number)) WITHOUT ROWID;
"""


class Line(NamedTuple):
    """The body of a document, and where it is: its number in the source."""

    number: int
    text: bytes


class LineQueue(TemporaryDatabase):
    """Lines by the rank of their resource in load order, then by source and number."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def add(self, rank: int, source: int, line: Line) -> None:
        self._database.execute("INSERT INTO line VALUES (?, ?, ?, ?)", (rank, source, *line))

    def lines(self, rank: int, source: int) -> Iterator[Line]:
        query = "SELECT number, text FROM line WHERE rank = ? AND source = ? ORDER BY number"
        return (Line(*row) for row in self._database.execute(query, (rank, source)))

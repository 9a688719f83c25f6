"""Lines that wait on disk: those whose resource is not yet their turn, and those whose targets may still come."""

from collections.abc import Iterator
from typing import NamedTuple

from edfi_api.loading.interchange.temporary_database import TemporaryDatabase

_SCHEMA = """
CREATE TABLE line (rank INTEGER, source INTEGER, number INTEGER, text BLOB, reason TEXT,
                   PRIMARY KEY (rank, source, number)) WITHOUT ROWID;
"""


class Line(NamedTuple):
    """A line about a document of the resource with this rank in load order: where it stands, and the body's text."""

    rank: int
    source: int
    number: int
    text: bytes


class Spool(TemporaryDatabase):
    """Lines by rank, then in the order of reading; of those that have had their turn also why they wait."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)
        self.size = 0

    def add(self, line: Line, reason: str = "") -> None:
        row = (line.rank, line.source, line.number, line.text, reason)
        self._database.execute("INSERT INTO line VALUES (?, ?, ?, ?, ?)", row)
        self.size += 1

    def remove(self, line: Line) -> str:
        """Take a line out and say why it waited."""
        delete = "DELETE FROM line WHERE rank = ? AND source = ? AND number = ? RETURNING reason"
        self.size -= 1
        return str(self._database.execute(delete, (line.rank, line.source, line.number)).fetchall()[0][0])

    def lines(self, rank: int, source: int) -> Iterator[Line]:
        query = "SELECT number, text FROM line WHERE rank = ? AND source = ? ORDER BY number"
        return (Line(rank, source, *row) for row in self._database.execute(query, (rank, source)))

    def lines_with_reasons(self) -> Iterator[tuple[Line, str]]:
        """Every line that is left, with why it waits."""
        query = "SELECT rank, source, number, text, reason FROM line ORDER BY rank, source, number"
        return ((Line(*row[:4]), row[4]) for row in self._database.execute(query))

"""A queue on disk that holds all documents in load order until all files are read.

Targets are written before their referrers, and a target can be in the last file.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edfi_api.loading.interchange import fragments
from edfi_api.loading.interchange.fragments import Fragment, Named
from edfi_api.loading.interchange.temporary_database import TemporaryDatabase

_SCHEMA = """
CREATE TABLE document (
    -- Rank of the resource in load order, then the order of reading; both are the key of the clustered table.
    rank INTEGER, number INTEGER, file INTEGER, line INTEGER, fragment BLOB, PRIMARY KEY (rank, number)
) WITHOUT ROWID;
CREATE TABLE named (file INTEGER, id TEXT, named BLOB, PRIMARY KEY (file, id)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queued document: its position in the queue, its place in the files, and its content."""

    rank: int
    number: int
    file: int
    line: int
    fragment: Fragment


class Spool(TemporaryDatabase):
    """The queue of documents, and the elements with an `id`, by the number of their file."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)
        self.size = 0

    def add(self, rank: int, file: int, line: int, fragment: Fragment) -> None:
        row = (rank, self.size, file, line, fragments.encode(fragment))
        self._database.execute("INSERT INTO document VALUES (?, ?, ?, ?, ?)", row)
        self.size += 1

    def name(self, file: int, id_: str, named: Named) -> bool:
        """Store the element with this id; False if the file already has another one with it."""
        row = (file, id_, fragments.encode(named))
        return self._database.execute("INSERT OR IGNORE INTO named VALUES (?, ?, ?)", row).rowcount > 0

    def named(self, file: int, id_: str) -> Named | None:
        row = self._database.execute("SELECT named FROM named WHERE file = ? AND id = ?", (file, id_)).fetchone()
        return fragments.decode_named(row[0]) if row else None

    def in_order(self) -> Iterator[Waiting]:
        """All documents by rank, then in the order of reading."""
        rows = self._database.execute("SELECT rank, number, file, line, fragment FROM document ORDER BY rank, number")
        return (_waiting(*row) for row in rows)

    def at(self, places: Iterable[tuple[int, int]]) -> Iterator[Waiting]:
        """The documents with these ranks and numbers, in the order given."""
        query = "SELECT rank, number, file, line, fragment FROM document WHERE rank = ? AND number = ?"
        return (_waiting(*self._database.execute(query, place).fetchone()) for place in places)


def _waiting(rank: int, number: int, file: int, line: int, fragment: bytes) -> Waiting:
    return Waiting(rank, number, file, line, fragments.decode_fragment(fragment))

"""A queue on disk that holds all documents in load order until all files are read.

Targets are written before their referrers, and a target can be in the last file.

A reference of a queued document identifies its target in one of three ways: by (parts of) the target's body, which an
`Identity` element holds; by the `id` of an element of the same file; by a look-up. References that the file alone can
resolve are resolved when it is read and do not appear here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.model.surface.resource import KeyPair, ResourceName

_SCHEMA = """
CREATE TABLE document (
    -- Rank of the resource in load order, then the order of reading; both are the key of the clustered table.
    rank INTEGER, number INTEGER, file INTEGER, line INTEGER, fragment BLOB, PRIMARY KEY (rank, number)
) WITHOUT ROWID;
CREATE TABLE named (file INTEGER, id TEXT, named BLOB, PRIMARY KEY (file, id)) WITHOUT ROWID;
-- Documents with look-ups that have not been written: with the text of the body, or with the reason why there is none.
CREATE TABLE look_up (
    rank INTEGER, number INTEGER, text BLOB, line INTEGER, reason TEXT, PRIMARY KEY (rank, number)
) WITHOUT ROWID;
"""

_READ_AT_ONCE = 500

# Member names and array indexes of one place in a body.
Place = tuple[str | int, ...]


class Fragment(msgspec.Struct, frozen=True, tag="fragment"):
    """A body, or part of one, without its unresolved references."""

    name: ResourceName
    body: dict[str, Any]
    open_references: list["OpenReference"] = []


class IdReference(msgspec.Struct, frozen=True, tag="id"):
    """`ref="..."`: refers to the element of the same file with that `id`."""

    id: str


class LookUp(msgspec.Struct, frozen=True, tag="look-up"):
    """Refers to the one document that contains an example; there is an example for each possible resource."""

    examples: list[Fragment]


Named = Fragment | IdReference | LookUp


class OpenReference(msgspec.Struct, frozen=True):
    """An unresolved reference, whose object belongs at `place`; `identity` maps the target's values to its members."""

    place: Place
    target: ResourceName
    identity: tuple[KeyPair, ...]
    named: Named
    line: int


_encoder = msgspec.msgpack.Encoder()
_fragment_decoder = msgspec.msgpack.Decoder(Fragment)
_named_decoder: msgspec.msgpack.Decoder[Named] = msgspec.msgpack.Decoder(Named)


def encode(named: Named) -> bytes:
    return _encoder.encode(named)


def decode_fragment(text: bytes) -> Fragment:
    return _fragment_decoder.decode(text)


def decode_named(text: bytes) -> Named:
    return _named_decoder.decode(text)


@dataclass(frozen=True, slots=True)
class QueuedDocument:
    """A queued document: its position in the queue, its place in the files, and its content."""

    rank: int
    number: int
    file: int
    line: int
    fragment: Fragment


class InterchangeQueue(TemporaryDatabase):
    """The queue of documents, and the elements with an `id`, by the number of their file."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)
        self.size = 0

    def add(self, rank: int, file: int, line: int, fragment: Fragment) -> None:
        row = (rank, self.size, file, line, encode(fragment))
        self._database.execute("INSERT INTO document VALUES (?, ?, ?, ?, ?)", row)
        self.size += 1

    def name(self, file: int, id_: str, named: Named) -> bool:
        """Store the element with this id; False if the file already has another one with it."""
        row = (file, id_, encode(named))
        return self._database.execute("INSERT OR IGNORE INTO named VALUES (?, ?, ?)", row).rowcount > 0

    def named(self, file: int, id_: str) -> Named | None:
        row = self._database.execute("SELECT named FROM named WHERE file = ? AND id = ?", (file, id_)).fetchone()
        return decode_named(row[0]) if row else None

    def in_order(self) -> Iterator[QueuedDocument]:
        """All documents by rank, then in the order of reading."""
        rows = self._database.execute("SELECT rank, number, file, line, fragment FROM document ORDER BY rank, number")
        return (_waiting(*row) for row in rows)

    def look_up_later(self, waiting: QueuedDocument) -> None:
        """Add a document whose look-ups have not been tried."""
        self._database.execute("INSERT INTO look_up (rank, number) VALUES (?, ?)", (waiting.rank, waiting.number))

    def keep_resolved(self, waiting: QueuedDocument, text: bytes) -> None:
        """Keep the body of a document whose look-ups have been resolved."""
        query = "UPDATE look_up SET text = ? WHERE rank = ? AND number = ?"
        self._database.execute(query, (text, waiting.rank, waiting.number))

    def keep_unresolved(self, waiting: QueuedDocument, line: int, reason: str) -> None:
        """Keep why the last attempt to resolve the look-ups of a document failed."""
        query = "UPDATE look_up SET line = ?, reason = ? WHERE rank = ? AND number = ?"
        self._database.execute(query, (line, reason, waiting.rank, waiting.number))

    def with_open_look_ups(self) -> Iterator[tuple[QueuedDocument, int, str]]:
        """Each with the line and the reason of the last failure. Read in parts, since rows change concurrently."""
        query = (
            "SELECT rank, number, file, d.line, fragment, l.line, reason FROM look_up l JOIN document d "
            "USING (rank, number) WHERE text IS NULL AND (rank, number) > (?, ?) ORDER BY rank, number LIMIT ?"
        )
        last = (-1, -1)
        while rows := self._database.execute(query, (*last, _READ_AT_ONCE)).fetchall():
            last = rows[-1][:2]
            yield from ((_waiting(*row[:5]), row[5], row[6]) for row in rows)

    def take_looked_up(self) -> Iterator[tuple[QueuedDocument, bytes]]:
        """The documents whose look-ups have been resolved, with their bodies; each once."""
        rows = self._database.execute(
            "SELECT rank, number, file, d.line, fragment, text FROM look_up JOIN document d "
            "USING (rank, number) WHERE text IS NOT NULL ORDER BY rank, number"
        )
        for row in rows:
            yield _waiting(*row[:5]), row[5]
        self._database.execute("DELETE FROM look_up WHERE text IS NOT NULL")


def _waiting(rank: int, number: int, file: int, line: int, fragment: bytes) -> QueuedDocument:
    return QueuedDocument(rank, number, file, line, decode_fragment(fragment))

"""Clones the rows of one school, written by the bulk writer, into rows of other schools, as lines for COPY.

Two schools differ only in a number of fixed length, which occurs nowhere else. So the columns of a clone are those of
the model with its number replaced; its referential ids are the hashes of its own keys, and its references lead to its
own documents. The ids of its documents are built from the number of the school and the position of the document, so
that links can be replaced, too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import shake_128
from uuid import UUID

from references.identity import natural_key, referential_id

_UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Placeholder in the lines of the model for the id of the school's own document.
_SCHOOL_ID = b"<school>"

# The digit of a UUID with its variant: two bits of it are fixed.
_VARIANTS = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))


@dataclass(frozen=True, slots=True)
class Key:
    """The input of a referential id."""

    project: str
    resource: str
    elements: Sequence[tuple[str, str]]

    @property
    def hashed_text(self) -> str:
        return f"{self.project}#{self.resource}#{natural_key(self._lowered)}"

    @property
    def referential_id(self) -> UUID:
        return referential_id(self.project, self.resource, natural_key(self._lowered))

    @property
    def _lowered(self) -> list[tuple[str, str]]:
        """Descriptors are hashed in lower case."""
        return [(path, value.lower() if path.endswith("Descriptor") else value) for path, value in self.elements]


@dataclass(frozen=True, slots=True)
class Copies:
    """The lines of one school for each of the three tables."""

    documents: bytes
    aliases: bytes
    references: bytes
    count: int


class Model:
    """The school that is cloned. `documents` are its rows in order, each with its id and its line without row id and
    id, `keys` their keys; `school_keys` are those of the school's own document, whose id is in `school_ids` for each
    school. `references` lead from a document, by its position, to a referential id, with their other columns."""

    def __init__(
        self,
        number: int,
        documents: Sequence[tuple[str, bytes]],
        keys: Sequence[Key],
        school_keys: Sequence[Key],
        references: Iterable[tuple[int, UUID, str]],
        *,
        school_ids: Mapping[int, str],
    ) -> None:
        self._number = b"%d" % number
        self._school_ids = school_ids
        own_ids = {id_.encode(): _document_id(number, place).encode() for place, (id_, _) in enumerate(documents)}
        own_ids[school_ids[number].encode()] = _SCHOOL_ID
        self._documents = _UUID.sub(lambda id_: own_ids.get(id_[0], id_[0]), b"\n".join(line for _, line in documents))
        self._hashed_texts = "\n".join(key.hashed_text for key in (*keys, *school_keys)).encode()
        self._size = len(documents)
        places = {key.referential_id: place for place, key in enumerate((*keys, *school_keys))}
        shared: dict[UUID, int] = {}
        self._references = []
        for document, target, line in references:
            place = places.get(target)
            if place is None:
                place = len(places) + shared.setdefault(target, len(shared))
            self._references.append((document, place, line))
        self._shared = [target.hex for target in shared]

    def clone(self, number: int, first_row: int, most: int) -> Copies:
        """The first `most` documents of the school with this number; their row ids start at `first_row`."""
        count = min(most, self._size)
        own = b"%d" % number
        ids = [_id(text) for text in self._hashed_texts.replace(self._number, own).split(b"\n")] + self._shared
        documents = self._documents.replace(self._number, own).replace(_SCHOOL_ID, self._school_ids[number].encode())
        lines = documents.decode().split("\n")
        rows = range(first_row, first_row + count)
        return Copies(
            _joined(
                f"{row}\t{_document_id(number, place)}\t{line}"
                for place, (row, line) in enumerate(zip(rows, lines, strict=False))
            ),
            _joined(f"{id_}\t{row}" for row, id_ in zip(rows, ids, strict=False)),
            _joined(
                f"{first_row + document}\t{ids[target]}\t{line}"
                for document, target, line in self._first_references(count)
            ),
            count,
        )

    def _first_references(self, documents: int) -> Iterable[tuple[int, int, str]]:
        if documents == self._size:
            return self._references
        return (reference for reference in self._references if reference[0] < documents)


def _document_id(school: int, place: int) -> str:
    """A UUID in the format of version 7, increasing with the rows."""
    return f"{school:09}000700080{place:014}"


def _id(hashed_text: bytes) -> str:
    """The result of `referential_id` in hexadecimal digits; optimised, since it is called millions of times."""
    digits = shake_128(hashed_text).hexdigest(16)
    return f"{digits[:12]}8{digits[13:16]}{_VARIANTS[digits[16]]}{digits[17:]}"


def _joined(lines: Iterator[str]) -> bytes:
    return "".join([f"{line}\n" for line in lines]).encode()

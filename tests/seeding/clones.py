"""The rows of one school, as the bulk writer left them, made into the rows of other schools, as lines for COPY.

Two schools differ in a number of fixed length that occurs in nothing else. So the columns of a clone, whatever they
are, are those of the model with another number in them; its referential ids are the hashes of its own keys; and it
refers to its own documents where the model refers to the model's. So that its links do too, the ids of its documents
are made of the number of the school and the place of the document.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import shake_128
from uuid import UUID

from references.identity import natural_key, referential_id

_UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Stands in the lines of the model for the id of the school's own document.
_SCHOOL_ID = b"<school>"

# The digit of a UUID that tells its variant: two bits of it are fixed.
_VARIANTS = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))


@dataclass(frozen=True, slots=True)
class Key:
    """What a referential id is made from."""

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
        """Descriptors take part in lower case."""
        return [(path, value.lower() if path.endswith("Descriptor") else value) for path, value in self.elements]


@dataclass(frozen=True, slots=True)
class Copies:
    """The lines of one school for the three tables."""

    documents: bytes
    aliases: bytes
    references: bytes
    count: int


class Model:
    """The school that is cloned. `documents` are its rows in order, id and line without number and id, `keys` theirs;
    `school_keys` those of the school's own document, whose id `school_ids` has for each school. `references` lead from
    a document, by its place in that order, to a referential id, with what else stands in their rows."""

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
        ours = {id_.encode(): _document_id(number, place).encode() for place, (id_, _) in enumerate(documents)}
        ours[school_ids[number].encode()] = _SCHOOL_ID
        self._documents = _UUID.sub(lambda id_: ours.get(id_[0], id_[0]), b"\n".join(line for _, line in documents))
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
        """The first `most` documents of the school with this number; their rows begin with `first_row`."""
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
    """In the form of a UUID of version 7, which grows with the rows."""
    return f"{school:09}000700080{place:014}"


def _id(hashed_text: bytes) -> str:
    """What `referential_id` gives, as hexadecimal digits: this is done millions of times."""
    digits = shake_128(hashed_text).hexdigest(16)
    return f"{digits[:12]}8{digits[13:16]}{_VARIANTS[digits[16]]}{digits[17:]}"


def _joined(lines: Iterator[str]) -> bytes:
    return "".join([f"{line}\n" for line in lines]).encode()

"""JSON texts → rows for COPY, without the database: what can run in any process.

What goes in and comes out is made to travel between processes: a few large values, not many small ones. Descriptors
stay in the letters that were sent, unless the work says in which they are stored.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from uuid_utils import uuid7

from edfi_api.documents import json_object
from edfi_api.documents.bulk.candidates import REFUSALS, Refusal
from edfi_api.documents.incoming import IncomingDocument, Preparer
from edfi_api.documents.paths import Path
from edfi_api.surface.resource import Resource, ResourceName

# What ends a field, a line or an escape in COPY's text format, and how it is written there.
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_IS_TO_ESCAPE = re.compile(r"[\\\t\n\r]")
_NULL = "\\N"

# The stored letters of descriptor values, by referential id.
Spellings = Mapping[UUID, str]


@dataclass(frozen=True, slots=True)
class Part:
    """Bodies of one resource, which has this number in the database."""

    resource: Resource
    number: int
    texts: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Work:
    """A batch to prepare; `spellings` has descriptors that are known to be sent in other letters than are stored."""

    parts: Sequence[Part]
    spellings: Spellings = field(default_factory=dict)

    def texts(self) -> Iterator[tuple[Part, bytes]]:
        """Each with what it is a part of."""
        return ((part, text) for part in self.parts for text in part.texts)


@dataclass(slots=True)
class Prepared:
    """What became of a batch.

    `lines` is what COPY takes, `aliases` has the ids of each valid document by its position, superclass's last, and
    `refusals` says by position what is wrong with the others. `spellings` are the descriptor values that occur, with
    their ids.
    """

    lines: bytes = b""
    aliases: dict[int, tuple[bytes, ...]] = field(default_factory=dict)
    refusals: dict[int, Refusal] = field(default_factory=dict)
    spellings: set[tuple[UUID, str]] = field(default_factory=set)


class Preparation:
    """Prepares work; each resource is compiled when its first body comes."""

    def __init__(self) -> None:
        self._preparers: dict[ResourceName, Preparer] = {}

    def prepare(self, work: Work) -> Prepared:
        prepared = Prepared()
        lines = []
        found: dict[tuple[Path, str], UUID] = {}
        for position, (part, text) in enumerate(work.texts()):
            preparer = self._preparer(part.resource)
            try:
                incoming = preparer.prepare_new_with_spellings(json_object.parse(text), work.spellings)
            except REFUSALS as refusal:
                prepared.refusals[position] = refusal
                continue
            lines.append(_line(position, incoming, part.number))
            prepared.aliases[position] = tuple([alias.bytes for alias in incoming.identity.aliases])
            for reference in (*incoming.references, *incoming.key_descriptors):
                if reference.value is not None:
                    found[reference.steps, reference.value] = reference.referential_id
        prepared.spellings = {(id_, work.spellings.get(id_, value)) for (_, value), id_ in found.items()}
        prepared.lines = "".join(lines).encode()
        return prepared

    def _preparer(self, resource: Resource) -> Preparer:
        if resource.name not in self._preparers:
            self._preparers[resource.name] = Preparer(resource)
        return self._preparers[resource.name]


def _line(position: int, incoming: IncomingDocument, resource_type: int) -> str:
    """In the order of the columns of the staging table."""
    identity = incoming.identity
    fields = (
        str(position),
        uuid7().hex,
        str(resource_type),
        _escaped(identity.natural_key),
        identity.referential_id.hex,
        _NULL if identity.superclass_id is None else identity.superclass_id.hex,
        _uuid_array(incoming.targets),
        _uuid_array(incoming.linked),
        incoming.text.decode().replace("\\", "\\\\"),  # JSON text has no other of the characters.
        *[_NULL if value is None else _securable_field(value) for value in incoming.securables],
    )
    return "\t".join(fields) + "\n"


def _uuid_array(ids: Iterable[UUID]) -> str:
    return "{" + ",".join([f"{each.int:032x}" for each in ids]) + "}"


def _securable_field(value: str | bool | int | list[int]) -> str:
    return "{" + ",".join(map(str, value)) + "}" if isinstance(value, list) else _escaped(str(value))


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES) if _IS_TO_ESCAPE.search(text) else text


_of_this_process = Preparation()


def prepare(work: Work) -> Prepared:
    """For a process that does nothing else: what is compiled once serves all work."""
    return _of_this_process.prepare(work)

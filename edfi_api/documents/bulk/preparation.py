"""Bodies → rows for COPY, without the database: what can run in any process.

Descriptors stay in the letters that were sent; which are stored in other letters is for the writer to find out.
"""

import pickle
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from uuid_utils.compat import uuid7

from edfi_api.documents.bulk.candidates import REFUSALS, Refusal
from edfi_api.documents.incoming import IncomingDocument, Preparer
from edfi_api.documents.securables import Securables
from edfi_api.surface.resource import Resource, ResourceName

# What ends a field, a line or an escape in COPY's text format.
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_NULL = "\\N"


@dataclass(frozen=True, slots=True)
class Work:
    """Bodies (pickled) to prepare, each with the position of its resource; resources with their numbers."""

    resources: Sequence[tuple[Resource, int]]
    bodies: Sequence[tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class Row:
    """A valid document: its line for COPY but for the number in front, and its ids, superclass's last."""

    line: str
    aliases: tuple[bytes, ...]


@dataclass(slots=True)
class Prepared:
    """What became of the bodies, by their position: a row or a refusal.

    `spellings` has every descriptor value as it was sent, by referential id, and where it occurs.
    """

    rows: dict[int, Row] = field(default_factory=dict)
    refusals: dict[int, Refusal] = field(default_factory=dict)
    spellings: dict[tuple[UUID, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def referential_id(self, position: int) -> bytes | None:
        """What tells a document from others; None for a body that is not valid."""
        return self.rows[position].aliases[0] if position in self.rows else None


class Preparation:
    """Prepares work; each resource is compiled when its first body comes."""

    def __init__(self) -> None:
        self._preparers: dict[ResourceName, Preparer] = {}

    def prepare(self, work: Work) -> Prepared:
        prepared = Prepared()
        for position, (resource, pickled) in enumerate(work.bodies):
            self._prepare(position, *work.resources[resource], pickled, prepared)
        return prepared

    def _prepare(self, position: int, resource: Resource, number: int, pickled: bytes, prepared: Prepared) -> None:
        preparer = self._preparer(resource)
        try:
            incoming = preparer.prepare_new_as_spelt(pickle.loads(pickled))  # noqa: S301  our own process wrote it
        except REFUSALS as refusal:
            prepared.refusals[position] = refusal
            return
        prepared.rows[position] = row(incoming, number)
        for reference in (*incoming.references, *preparer.extractor.key_descriptors(incoming.body)):
            if reference.value is not None:
                prepared.spellings[reference.referential_id, reference.value].append(position)

    def _preparer(self, resource: Resource) -> Preparer:
        if resource.name not in self._preparers:
            self._preparers[resource.name] = Preparer(resource)
        return self._preparers[resource.name]


def row(incoming: IncomingDocument, resource_type: int) -> Row:
    """In the order of the columns of the staging table, without the first."""
    identity = incoming.identity
    fields = (
        uuid7().hex,
        str(resource_type),
        identity.natural_key.translate(_ESCAPES),
        identity.referential_id.hex,
        _NULL if identity.superclass_id is None else identity.superclass_id.hex,
        "{" + ",".join([target.hex for target in incoming.targets]) + "}",
        incoming.text.decode().replace("\\", "\\\\"),  # JSON text has no other of the characters.
        *_securable_fields(incoming.securables),
    )
    return Row("\t".join(fields), tuple(alias.bytes for alias in identity.aliases))


def _securable_fields(securables: Securables) -> Iterator[str]:
    for value in securables:
        match value:
            case None:
                yield _NULL
            case list():
                yield "{" + ",".join(map(str, value)) + "}"
            case _:
                yield str(value).translate(_ESCAPES)


_of_this_process = Preparation()


def prepare(work: Work) -> Prepared:
    """For a process that does nothing else: what is compiled once serves all work."""
    return _of_this_process.prepare(work)

"""Finds the rows of a batch that would be refused if written one by one, and why, and further rows for one document.

A batch is written in one statement, whose rows do not see each other: two rows for the same document, a row that refers
to another of the batch, two subclass documents with one superclass identity. The result that sequential writes would
have is computed here, from referential ids alone; why a row is refused takes two queries for all of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import get_args
from uuid import UUID

from edfi_api.core.documents.document_validator import ValidatedDocument
from edfi_api.core.documents.exceptions import (
    ClientAssignedId,
    DataValidationFailed,
    DocumentTooLarge,
    DuplicateProperty,
    EmptyBody,
    MalformedJson,
)
from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.core.storage.exceptions import IdentityConflict, NotChecked
from edfi_api.core.storage.write_errors import unresolved, uris_of_any_type
from references.exceptions import UnresolvedReference

Refusal = (
    EmptyBody
    | MalformedJson
    | DocumentTooLarge
    | DuplicateProperty
    | DataValidationFailed
    | ClientAssignedId
    | IdentityConflict
    | UnresolvedReference
    | NotChecked
    | TooMuchContention
)
REFUSALS = get_args(Refusal)

# The referential ids, among some, of no document.
Missing = Callable[[Iterable[UUID]], set[UUID]]


@dataclass(slots=True)
class Conflicts:
    """The conflicts of the rows of a batch, by position; rows that are in none of these are written in the first
    pass.

    `missing` has the targets of a refused row that do not exist; `duplicates` are the rows whose superclass identity
    another document has; `later` has the pass in which a further row for the document of an accepted row is written.
    """

    missing: dict[int, set[bytes]] = field(default_factory=dict)
    duplicates: set[int] = field(default_factory=set)
    later: dict[int, int] = field(default_factory=dict)

    def pass_sizes(self, rows: int) -> list[int]:
        """Return how many of the batch's `rows` are written in each pass."""
        sizes = Counter(self.later.values())
        first = rows - len(self.later) - len(self.duplicates) - len(self.missing)
        return [first, *(sizes[pass_number] for pass_number in sorted(sizes))]


# Arguments: by position in order, the referential ids of each row, its own first; by position, the targets that no
# stored document has; the positions of new rows whose superclass identity another stored document has.
Resolve = Callable[[Mapping[int, Sequence[bytes]], Mapping[int, set[bytes]], set[int]], Conflicts]


def resolve(
    aliases: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]], duplicates: set[int]
) -> Conflicts:
    """Sequential semantics: each row sees those before it."""
    if not not_stored and not duplicates and _are_distinct(aliases):
        return Conflicts()
    conflicts = Conflicts()
    provided: set[bytes] = set()
    occurrences: Counter[bytes] = Counter()
    for position, (own, *above) in aliases.items():
        # A document may refer to itself, by its own or its superclass identity.
        missing = not_stored.get(position, set()) - provided - {own, *above}
        if missing:
            conflicts.missing[position] = missing
            continue
        is_new = own not in provided
        if position in duplicates or (is_new and not provided.isdisjoint(above)):
            conflicts.duplicates.add(position)
            continue
        provided.update((own, *above))
        occurrences[own] += 1
        if not is_new:
            conflicts.later[position] = occurrences[own]
    return conflicts


def _are_distinct(aliases: Mapping[int, Sequence[bytes]]) -> bool:
    ids = list(chain.from_iterable(aliases.values()))
    return len(set(ids)) == len(ids)


def resolve_together(
    aliases: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]], duplicates: set[int]
) -> Conflicts:
    """Return what `resolve` returns, but rows may also refer to later ones, so references may be circular."""
    missing: dict[int, set[bytes]] = {}
    standing = dict(aliases)
    while lost := _lost(standing, not_stored):
        missing |= lost
        standing = {position: ids for position, ids in standing.items() if position not in lost}
    conflicts = resolve(standing, {}, duplicates & standing.keys())
    conflicts.missing = missing
    return conflicts


def _lost(standing: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]]) -> dict[int, set[bytes]]:
    """The targets that rows miss if all the others are written."""
    provided = {alias for ids in standing.values() for alias in ids}
    missing = {position: not_stored.get(position, set()) - provided for position in standing}
    return {position: targets for position, targets in missing.items() if targets}


def refusals(
    conflicts: Conflicts, documents: Mapping[int, ValidatedDocument], missing: Missing, using: str
) -> Iterator[tuple[int, IdentityConflict | UnresolvedReference]]:
    """Positions and refusals; `documents` has the documents of all rows that conflict. Two queries, whatever their
    number."""
    for position in conflicts.duplicates:
        document = documents[position]
        yield position, IdentityConflict(document.resource, document.identity.elements, is_new=True)
    if conflicts.missing:
        yield from _unresolved(conflicts.missing, documents, missing, using)


def _unresolved(
    targets: Mapping[int, set[bytes]], documents: Mapping[int, ValidatedDocument], missing: Missing, using: str
) -> Iterator[tuple[int, UnresolvedReference]]:
    refused = {position: documents[position] for position in targets}
    key_descriptors = chain.from_iterable(each.key_descriptors for each in refused.values())
    missing_descriptors = missing(each.referential_id for each in key_descriptors)
    ids = {position: {UUID(bytes=target) for target in targets[position]} | missing_descriptors for position in refused}
    uris = {
        reference.value
        for position, document in refused.items()
        for reference in document.sent_references
        if reference.value is not None and reference.referential_id in ids[position]
    }
    of_any_type = uris_of_any_type(uris, using) if uris else frozenset()

    def stored(wanted: Set[str]) -> Set[str]:
        return wanted & of_any_type

    for position, document in refused.items():
        yield position, unresolved(document, ids[position], stored)

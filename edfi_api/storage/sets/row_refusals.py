"""Why the rows of a set are refused that conflict with what is stored: what a single write would be refused for."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import get_args
from uuid import UUID

from edfi_api.documents.exceptions import (
    ClientAssignedId,
    DataValidationFailed,
    DocumentTooLarge,
    DuplicateProperty,
    EmptyBody,
    MalformedJson,
)
from edfi_api.documents.incoming import IncomingDocument
from edfi_api.storage import unresolved
from edfi_api.storage.exceptions import IdentityConflict, TooMuchContention
from edfi_api.storage.sets.conflicts import Conflicts
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
    | TooMuchContention
)
REFUSALS = get_args(Refusal)

# The referential ids, among some, of no document.
Missing = Callable[[Iterable[UUID]], set[UUID]]


def refusals(
    conflicts: Conflicts, incoming: Mapping[int, IncomingDocument], missing: Missing, using: str
) -> Iterator[tuple[int, IdentityConflict | UnresolvedReference]]:
    """Positions and refusals; `incoming` has the documents of all rows that conflict. Two queries, whatever their
    number."""
    for position in conflicts.duplicates:
        document = incoming[position]
        yield position, IdentityConflict(document.resource, document.identity.elements, is_new=True)
    if conflicts.missing:
        yield from _unresolved(conflicts.missing, incoming, missing, using)


def _unresolved(
    targets: Mapping[int, set[bytes]], incoming: Mapping[int, IncomingDocument], missing: Missing, using: str
) -> Iterator[tuple[int, UnresolvedReference]]:
    documents = {position: incoming[position] for position in targets}
    key_descriptors = chain.from_iterable(each.key_descriptors for each in documents.values())
    missing_descriptors = missing(each.referential_id for each in key_descriptors)
    ids = {
        position: {UUID(bytes=target) for target in targets[position]} | missing_descriptors for position in documents
    }
    uris = {
        reference.value
        for position, document in documents.items()
        for reference in document.sent_references
        if reference.value is not None and reference.referential_id in ids[position]
    }
    of_any_type = unresolved.stored_uris(uris, using) if uris else frozenset()

    def stored(wanted: Set[str]) -> Set[str]:
        return wanted & of_any_type

    for position, document in documents.items():
        yield position, unresolved.unresolved(document, ids[position], stored)

"""Normalises descriptor values in a body to the letter case of the stored descriptors.

Descriptors compare case-insensitively, and the API returns the descriptor's own case, not the client's. Bodies are
normalised before they are stored, so that query by example can compare exactly. See
meadowlark/docs/reference/contract.md#descriptors.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from edfi_api.documents.extraction import DocumentReference
from edfi_api.model.surface.resource import ALL_ITEMS

# Referential ids → the URIs of the stored descriptors among them.
StoredUris = Callable[[Iterable[UUID]], Mapping[UUID, str]]


def normalise_case(body: dict[str, Any], references: Iterable[DocumentReference], stored_uris: StoredUris) -> None:
    """Replace, in place, every descriptor value of `body` whose stored descriptor differs in case."""
    descriptors = [reference for reference in references if reference.value is not None]
    stored = stored_uris([reference.referential_id for reference in descriptors])
    for reference in descriptors:
        uri = stored.get(reference.referential_id)
        if uri is not None and uri != reference.value:
            _replace(body, reference, uri)


def _replace(body: dict[str, Any], reference: DocumentReference, uri: str) -> None:
    place: Any = body
    indexes = iter(reference.indexes)
    for step in reference.steps[:-1]:
        place = place[next(indexes) if step == ALL_ITEMS else step]
    place[reference.steps[-1]] = uri

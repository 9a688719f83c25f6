"""Descriptor values in the spelling of the stored descriptor.

Descriptors compare without regard to case, and what is served is the descriptor's own spelling, not the client's.
Bodies are brought into it before they are stored, so that query by example can compare exactly. A descriptor cannot
be renamed, so a spelling once read is remembered; not for ever, since it can be deleted and come back in other
letters. Source: http-api.md §18.2.
"""

from collections.abc import Iterable
from threading import Lock
from typing import Any
from uuid import UUID

from cachetools import TTLCache

from edfi_api.documents.extraction import DocumentReference
from edfi_api.models import Document
from edfi_api.surface.resource import ALL_ITEMS
from references.identity import descriptor_natural_key

_MOST_REMEMBERED = 65_536
_SECONDS_REMEMBERED = 60

_remembered: TTLCache[tuple[str, UUID], str] = TTLCache(_MOST_REMEMBERED, _SECONDS_REMEMBERED)
_lock = Lock()


def adopt(body: dict[str, Any], references: Iterable[DocumentReference], using: str) -> None:
    """Respell, in place, every descriptor value of `body` that is stored in other letters."""
    descriptors = [reference for reference in references if reference.value is not None]
    stored = stored_spellings([reference.referential_id for reference in descriptors], using)
    for reference in descriptors:
        spelling = stored.get(reference.referential_id, reference.value)
        if spelling != reference.value:
            _replace(body, reference, spelling)


def stored_spellings(ids: Iterable[UUID], using: str) -> dict[UUID, str]:
    """URIs of the stored descriptors among these referential ids; at most one query, mostly none."""
    with _lock:
        found = {id_: _remembered.get((using, id_)) for id_ in ids}
    unknown = [id_ for id_, uri in found.items() if uri is None]
    if unknown:
        found |= _read(unknown, using)
    return {id_: uri for id_, uri in found.items() if uri is not None}


def forget() -> None:
    """Read every spelling anew when it is asked for next."""
    with _lock:
        _remembered.clear()


def _read(ids: list[UUID], using: str) -> dict[UUID, str]:
    rows = Document.objects.using(using).filter(aliases__in=ids).values_list("aliases", "natural_key")
    uris = {id_: key.removeprefix(descriptor_natural_key("")) for id_, key in rows}
    with _lock:
        _remembered.update({(using, id_): uri for id_, uri in uris.items()})
    return uris


def _replace(body: dict[str, Any], reference: DocumentReference, spelling: str) -> None:
    place: Any = body
    indexes = iter(reference.indexes)
    for step in reference.steps[:-1]:
        place = place[next(indexes) if step == ALL_ITEMS else step]
    place[reference.steps[-1]] = spelling

"""Normalises descriptor values to the letter case of the stored descriptor.

Descriptors compare case-insensitively, and the API returns the descriptor's own case, not the client's. Bodies are
normalised before they are stored, so that query by example can compare exactly. Descriptors cannot be renamed, so
stored URIs are cached; entries expire because a descriptor can be deleted and created again in another case. See
meadowlark/docs/contract.md#descriptors.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db import connections

from edfi_api.documents.extraction import DocumentReference
from edfi_api.surface.resource import ALL_ITEMS
from references.identity import descriptor_natural_key

_MOST_REMEMBERED = 65_536
_SECONDS_REMEMBERED = 60
_NOTHING = ("", 0.0)
# The ids are one array parameter: the ORM binds each id separately, which takes longer than the query itself.
_NATURAL_KEYS = """
SELECT a.referential_id, d.natural_key FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%s)
"""

# (database, referential id) → (URI, when the entry expires). Each access is a single dictionary operation, so threads
# need no lock.
_remembered: dict[tuple[str, UUID], tuple[str, float]] = {}


def normalise(body: dict[str, Any], references: Iterable[DocumentReference], using: str) -> None:
    """Replace, in place, every descriptor value of `body` whose stored descriptor differs in case."""
    descriptors = [reference for reference in references if reference.value is not None]
    normalise_to(body, descriptors, uris_by_id([reference.referential_id for reference in descriptors], using))


def normalise_to(body: dict[str, Any], references: Iterable[DocumentReference], stored: Mapping[UUID, str]) -> None:
    """As `normalise`, with the stored URIs given by referential id."""
    for reference in references:
        uri = stored.get(reference.referential_id)
        if uri is not None and reference.value is not None and uri != reference.value:
            _replace(body, reference, uri)


def uris_by_id(ids: Iterable[UUID], using: str) -> dict[UUID, str]:
    """URIs of the stored descriptors among these referential ids; at most one query, none if all are cached."""
    now = time.monotonic()
    found, unknown = {}, []
    for id_ in ids:
        uri, until = _remembered.get((using, id_), _NOTHING)
        if now < until:
            found[id_] = uri
        else:
            unknown.append(id_)
    return found | _read(unknown, using) if unknown else found


def forget() -> None:
    """Clear the cache."""
    _remembered.clear()


def _read(ids: list[UUID], using: str) -> dict[UUID, str]:
    with connections[using].cursor() as cursor:
        cursor.execute(_NATURAL_KEYS, [ids])
        uris = {id_: key.removeprefix(descriptor_natural_key("")) for id_, key in cursor}
    if len(_remembered) + len(uris) > _MOST_REMEMBERED:
        _remembered.clear()
    until = time.monotonic() + _SECONDS_REMEMBERED
    _remembered.update({(using, id_): (uri, until) for id_, uri in uris.items()})
    return uris


def _replace(body: dict[str, Any], reference: DocumentReference, uri: str) -> None:
    place: Any = body
    indexes = iter(reference.indexes)
    for step in reference.steps[:-1]:
        place = place[next(indexes) if step == ALL_ITEMS else step]
    place[reference.steps[-1]] = uri

"""Descriptor values in the spelling of the stored descriptor.

Descriptors compare without regard to case, and what is served is the descriptor's own spelling, not the client's.
Bodies are brought into it before they are stored, so that query by example can compare exactly. A descriptor cannot
be renamed, so a spelling once read is remembered; not for ever, since it can be deleted and come back in other
letters. See meadowlark/docs/contract.md#descriptors.
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
# One parameter, however many there are; the ORM makes one of each, which took more time than the query.
_NATURAL_KEYS = """
SELECT a.referential_id, d.natural_key FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%s)
"""

# By database and referential id: the URI, and until when it is trusted. Each access is a single step of a dictionary,
# which needs no lock.
_remembered: dict[tuple[str, UUID], tuple[str, float]] = {}


def adopt(body: dict[str, Any], references: Iterable[DocumentReference], using: str) -> None:
    """Respell, in place, every descriptor value of `body` that is stored in other letters."""
    descriptors = [reference for reference in references if reference.value is not None]
    respell(body, descriptors, stored_spellings([reference.referential_id for reference in descriptors], using))


def respell(body: dict[str, Any], references: Iterable[DocumentReference], stored: Mapping[UUID, str]) -> None:
    """The same for those that `stored` knows."""
    for reference in references:
        spelling = stored.get(reference.referential_id)
        if spelling is not None and reference.value is not None and spelling != reference.value:
            _replace(body, reference, spelling)


def stored_spellings(ids: Iterable[UUID], using: str) -> dict[UUID, str]:
    """URIs of the stored descriptors among these referential ids; at most one query, mostly none."""
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
    """Read every spelling anew when it is asked for next."""
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


def _replace(body: dict[str, Any], reference: DocumentReference, spelling: str) -> None:
    place: Any = body
    indexes = iter(reference.indexes)
    for step in reference.steps[:-1]:
        place = place[next(indexes) if step == ALL_ITEMS else step]
    place[reference.steps[-1]] = spelling

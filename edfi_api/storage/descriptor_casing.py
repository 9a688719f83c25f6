"""The URIs of stored descriptors, in their own letter case.

Descriptors cannot be renamed, so stored URIs are cached; entries expire because a descriptor can be deleted and created
again in another case.
"""

import time
from collections.abc import Iterable
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.storage.data_store import data_store
from references.identity import descriptor_natural_key

_MOST_REMEMBERED = 65_536
_SECONDS_REMEMBERED = 60
_NOTHING = ("", 0.0)
# The ids are one array parameter: the ORM binds each id separately, which takes longer than the query itself.
_NATURAL_KEYS = """
SELECT a.referential_id, d.natural_key FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY (%s)
"""


def stored_uris(ids: Iterable[UUID], using: str = DEFAULT_DB_ALIAS) -> dict[UUID, str]:
    """The URIs of the stored descriptors among these referential ids; at most one query, none if all are cached."""
    now, remembered = time.monotonic(), data_store(using).state(_remembered)
    found, unknown = {}, []
    for id_ in ids:
        uri, until = remembered.get(id_, _NOTHING)
        if now < until:
            found[id_] = uri
        else:
            unknown.append(id_)
    if not unknown:
        return found
    read = _read(unknown, using)
    if len(remembered) + len(read) > _MOST_REMEMBERED:
        remembered.clear()
    until = time.monotonic() + _SECONDS_REMEMBERED
    remembered.update({id_: (uri, until) for id_, uri in read.items()})
    return found | read


def _remembered(_using: str) -> dict[UUID, tuple[str, float]]:
    """Referential id → (URI, when the entry expires). Each access is a single dictionary operation, so threads need no
    lock."""
    return {}


def _read(ids: list[UUID], using: str) -> dict[UUID, str]:
    with connections[using].cursor() as cursor:
        cursor.execute(_NATURAL_KEYS, [ids])
        return {id_: key.removeprefix(descriptor_natural_key("")) for id_, key in cursor}

"""Descriptors that are stored and readable, and that a URI without a descriptor may mean.

The descriptors of a type are remembered for a minute for all clients; whether a client may read one is asked each time.
"""

from threading import Lock

from cachetools import TTLCache

from edfi_api.core.security.requests.authorization import readable_rows
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.web.problem_details.hints.attempted_request import AttemptedRequest
from edfi_api.web.problem_details.hints.near_names import near_names
from references.descriptor_uri import comparable

_LONGEST = 300
_MOST_STORED = 500
_MOST_TYPES_REMEMBERED = 16
_SECONDS_REMEMBERED = 60
_URIS = Sql(
    "SELECT d.id, (d.body ->> 'namespace') || '#' || (d.body ->> 'codeValue') FROM document d"
    " WHERE d.resource_type_id = %(type)s AND d.namespace IS NOT NULL ORDER BY d.namespace, d.id LIMIT %(most)s"
)
_STORED = Sql("SELECT id FROM document WHERE id = ANY (%(rows)s::bigint[])")
# URI by row.
Near = dict[int, str]


def readable_near_descriptors(uri: str, resource: Resource, attempt: AttemptedRequest) -> list[str]:
    """The URIs of the near descriptors of this resource that the client may read, those of the namespace of `uri`
    first."""
    if attempt.surface is None or attempt.client is None or attempt.using is None or len(uri) > _LONGEST:
        return []
    near = _nearest(uri, database_state(attempt.using).value(_StoredDescriptors).of(resource.name))
    near = _still_stored({row: each for row, each in near.items() if each != uri}, attempt.using)
    if not near:
        return []
    readable = readable_rows(attempt.client, attempt.surface, attempt.using, dict.fromkeys(near, resource.name))
    return [found for row, found in near.items() if row in readable]


def _still_stored(near: Near, using: str) -> Near:
    """Return these descriptors without those that were deleted within the last minute."""
    rows = {row for (row,) in execute(_STORED.with_values(rows=list(near)), using)} if near else ()
    return {row: each for row, each in near.items() if row in rows}


class _StoredDescriptors:
    """The descriptors of one database by their types, as they were within the last minute."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._remembered: TTLCache[ResourceName, Near] = TTLCache(_MOST_TYPES_REMEMBERED, _SECONDS_REMEMBERED)
        self._lock = Lock()

    def of(self, name: ResourceName) -> Near:
        """The first of this type, readable or not."""
        with self._lock:
            found = self._remembered.get(name)
        if found is None:
            found = self._read(name)
            with self._lock:
                self._remembered[name] = found
        return found

    def _read(self, name: ResourceName) -> Near:
        type_ = resource_types.numbers(self._using)[name]
        return dict(execute(_URIS.with_values(type=type_, most=_MOST_STORED), self._using))


def _nearest(uri: str, stored: Near) -> Near:
    """Return the descriptors with the nearest code values."""
    namespace, _, code_value = uri.rpartition("#")
    by_code_value: dict[str, Near] = {}
    for row, each in stored.items():
        by_code_value.setdefault(each.rpartition("#")[2], {})[row] = each
    names = near_names(code_value, by_code_value)
    found = {row: each for name in names for row, each in by_code_value[name].items()}
    own = {row: each for row, each in found.items() if comparable(each).startswith(comparable(f"{namespace}#"))}
    return dict(list((own | found).items())[:3])

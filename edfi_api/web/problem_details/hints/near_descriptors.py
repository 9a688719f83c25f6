"""The known names that a mistyped name may mean, at a bounded cost; and the descriptors, stored and
readable, that a URI without a descriptor may mean.

The descriptors of a type are remembered for a minute for all clients; whether a client may read one is asked each time.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from threading import Lock

from cachetools import TTLCache

from edfi_api.core.security.requests.authorization import readable_rows
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.web.problem_details.hints.attempted_request import AttemptedRequest
from references.descriptor_uri import comparable

_MOST = 3
_LONGEST_NAME = 80
_MOST_COMPARED = 1_000
# The bound of `SequenceMatcher.ratio`: `lastName` and `lastSurname` have 0.84, `student` and `students` 0.93.
_ALIKE = 0.72
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """Return at most three of the first thousand known names, the most similar first: the same in another case, alone;
    names that are spelt alike; names that have all the words of this one, or only words of it, in any order.
    """
    if not name or len(name) > _LONGEST_NAME:
        return []
    by_lower = {each.lower(): each for each in list(known)[:_MOST_COMPARED]}
    wanted = name.lower()
    if wanted in by_lower:
        return [by_lower[wanted]]
    alike = get_close_matches(wanted, by_lower, _MOST, _ALIKE)
    words = _words(name)
    sharing = [each for each in by_lower.values() if _share_words(words, _words(each))]
    best = get_close_matches(wanted, [each.lower() for each in sharing], _MOST, 0)
    return [by_lower[each] for each in dict.fromkeys((*alike, *best))][:_MOST]


def _share_words(first: frozenset[str], second: frozenset[str]) -> bool:
    return bool(first and second) and (first <= second or (second <= first and len(second) > 1))


def _words(name: str) -> frozenset[str]:
    """`birthDates` as `birth` and `date`."""
    return frozenset(word.lower().removesuffix("s") for word in _WORD.findall(name))


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
    """The URIs of the near descriptors of this resource that the client may read, those of `uri`'s namespace first."""
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

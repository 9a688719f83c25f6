"""Changes of documents since a version → the values of a scope that they concern.

Former values of a document count as well as current ones. Old values of an identity are kept with the key changes;
other old values are read from the superseded bodies.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from edfi_api.core.documents.securables import SecurableKind, groups
from edfi_api.features.validation.connections import Reading
from edfi_api.features.validation.rule import Scope
from edfi_api.model.surface.resource import Resource

# With more values, a full run is about as fast.
MOST_VALUES = 20_000

_DOCUMENTS = """
SELECT document_uuid FROM document WHERE resource_type_id = %(type)s AND change_version > %(after)s
 UNION
SELECT document_uuid FROM deleted_document WHERE resource_type_id = %(type)s AND change_version > %(after)s
 LIMIT %(most)s
"""
_VALUES = """
SELECT {column} FROM document WHERE resource_type_id = %(type)s AND change_version > %(after)s
 UNION
SELECT {column} FROM deleted_document WHERE resource_type_id = %(type)s AND change_version > %(after)s
 UNION
SELECT {column} FROM key_change WHERE resource_type_id = %(type)s AND change_version > %(after)s
 LIMIT %(most)s
"""
# Documents that were updated, and whether their versions go back to what they were at `after`: older ones are purged.
_SUPERSEDED = """
WITH changed AS (
    SELECT document_uuid, false AS was_there FROM document
     WHERE resource_type_id = %(type)s AND change_version > %(after)s AND operation <> 'insert'
     UNION ALL
    SELECT document_uuid, last_change_version <= %(after)s OR last_operation = 'insert' FROM deleted_document
     WHERE resource_type_id = %(type)s AND change_version > %(after)s
)
SELECT c.was_there OR coalesce(bool_or(s.change_version <= %(after)s OR s.operation = 'insert'), false),
       array_agg(DISTINCT {value}) FILTER (WHERE s.document_uuid IS NOT NULL)
  FROM changed c
  LEFT JOIN superseded_document s ON s.document_uuid = c.document_uuid AND s.resource_type_id = %(type)s
 GROUP BY c.document_uuid, c.was_there
"""
_COLUMNS = {
    Scope.STUDENT: SecurableKind.STUDENT,
    Scope.STAFF: SecurableKind.STAFF,
    Scope.CONTACT: SecurableKind.CONTACT,
    Scope.ORGANIZATION: SecurableKind.ORGANIZATION,
}


class RunFully(Exception):
    """The values cannot be found out; the text says why."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A resource whose changes concern a scope, and its number."""

    resource: Resource
    number: int


def changed_values(scope: Scope, watched: Iterable[Watched], after: int, reading: Reading) -> list[Any]:
    """The values that the changes after a version concern. Raises RunFully."""
    found: set[Any] = set()
    for each in watched:
        found |= _values(scope, each, after, reading)
        if None in found:
            raise RunFully(f"a change of {each.resource.url_path.removeprefix('/')} has no {scope}")
        if len(found) > MOST_VALUES:
            raise RunFully(f"changes concern more than {MOST_VALUES} values")
    return sorted(found)


def _values(scope: Scope, watched: Watched, after: int, reading: Reading) -> set[Any]:
    given = {"type": watched.number, "after": after, "most": MOST_VALUES + 1}
    if scope is Scope.DOCUMENT:
        return {value for (value,) in reading.all(_DOCUMENTS, given)}
    kind = _COLUMNS[scope]
    found = {value for (value,) in reading.all(_VALUES.format(column=kind), given)}
    group = next((group for group in groups(watched.resource) if group[0].kind is kind), ())
    if any(element.path in watched.resource.identity for element in group):
        return found
    return found | _superseded(kind, [element.path.steps for element in group], given, reading)


def _superseded(
    kind: SecurableKind, paths: Sequence[tuple[str, ...]], given: dict[str, Any], reading: Reading
) -> set[Any]:
    """Values that are no part of the identity; None for a body without."""
    members = [f"s.body #>> '{{{','.join(steps)}}}'" for steps in paths]
    value = f"coalesce({', '.join(members)})" if members else "NULL::text"
    found: set[Any] = set()
    for is_known, values in reading.all(_SUPERSEDED.format(value=value), given):
        if not is_known:
            raise RunFully("earlier versions of changed documents were purged")
        found |= set(values or ())
    if kind is SecurableKind.ORGANIZATION:
        return {None if value is None else int(value) for value in found}
    return found

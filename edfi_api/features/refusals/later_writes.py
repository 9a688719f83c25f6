"""Finds what resolves entries in the documents themselves: writes by batches, other processes and other clients."""

from collections.abc import Collection, Set
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.served import current_surface
from edfi_api.core.storage.driver.sql import statements_of
from edfi_api.features.refusals.ledger import Awaiting, Ledger, Resolving
from edfi_api.model.surface.resource import ResourceName

DEFAULT_STORE = 0
_CHANGES = statements_of(__file__)("changes")
_AT_ONCE = 10_000
_NEWEST = "SELECT newest_change_version()"
_POSITION = "SELECT change_version FROM refusal_position WHERE data_store = %s"
_BEGIN = """
INSERT INTO refusal_position (data_store, change_version) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING data_store
"""
_MOVE = """
UPDATE refusal_position SET change_version = %s WHERE data_store = %s AND change_version < %s RETURNING data_store
"""


class LaterWrites:
    """The changes of one data store, in windows of change versions.

    `note` reads the newest change version, `look` processes the changes up to it some seconds later: by then the
    refusals before them have been recorded.
    """

    def __init__(self, data_store: int, ledger: Ledger, documents: BaseDatabaseWrapper) -> None:
        self._data_store = data_store
        self._ledger = ledger
        self._documents = documents
        self._noted: int | None = None

    def note(self) -> None:
        """A first look at a data store begins here: earlier changes resolve nothing."""
        [(self._noted,)] = self._read(_NEWEST)
        self._ledger.rows(_BEGIN, [self._data_store, self._noted])

    def look(self, awaiting: Collection[Awaiting]) -> None:
        """Resolve entries by the changes up to the noted version. Several processes may do so concurrently: most
        find that the position has moved already."""
        if self._noted is not None:
            self._resolve_up_to(awaiting, self._noted)
            self._noted = None

    def _resolve_up_to(self, awaiting: Collection[Awaiting], last: int) -> None:
        own = [each for each in awaiting if each[1] == self._data_store]
        awaited = {name for *_, name in own}
        types = self._types({path for _, _, path, _ in own}, awaited)
        [(after,)] = self._ledger.rows(_POSITION, [self._data_store])
        while types and after < last:
            window = {"types": types, "after": after, "last": last, "most": _AT_ONCE}
            rows = self._read(_CHANGES.text, window)
            self._resolve_by(rows, awaited)
            after = rows[-1][0] if len(rows) >= _AT_ONCE else last
            self._ledger.rows(_MOVE, [after, self._data_store, after])
        self._ledger.rows(_MOVE, [last, self._data_store, last])

    def _types(self, paths: Set[str], awaited: Set[str]) -> list[int]:
        """The numbers of the resources with these paths, and of the awaited ones."""
        return [
            number
            for number, project, name in self._read("SELECT id, project, name FROM resource_type")
            if (resource := current_surface().by_name.get(ResourceName(project, name)))
            and (resource.url_path in paths or _is_one_of(awaited, resource.name))
        ]

    def _resolve_by(
        self, rows: list[tuple[int, str, str, list[UUID], int | None, float, bool, str | None]], awaited: Set[str]
    ) -> None:
        writes: list[Resolving] = []
        written: list[UUID] = []
        for _, project, name, ids, client, at, is_delete, former in rows:
            resource = ResourceName(project, name)
            old_ids = [] if former is None else _identity(resource, former)
            if not is_delete and _is_one_of(awaited, resource):
                written += ids
            if client is not None:
                writes += [Resolving(client, self._data_store, id_, at, is_delete) for id_ in (*ids, *old_ids)]
        with self._ledger.changes():
            self._ledger.resolve(writes)
            self._ledger.mark_causes_gone(self._data_store, written)

    def _read(self, statement: str, parameters: Any = None) -> list[Any]:
        with self._documents.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())


def _identity(name: ResourceName, body: str) -> list[UUID]:
    """The referential ids of a body that may come from another version of the standard."""
    try:
        return _validators()[name].extractor.identity(orjson.loads(body)).aliases
    except (DataValidationFailed, KeyError):
        return []


def _is_one_of(names: Set[str], resource: ResourceName) -> bool:
    """Return whether references to these names may refer to the resource."""
    return not names.isdisjoint(_names(resource))


@cache
def _names(name: ResourceName) -> tuple[str, ...]:
    """The names by which references may refer to a resource of the surface."""
    superclass = current_surface().by_name[name].superclass
    return (name.resource, superclass.name.resource) if superclass else (name.resource,)


@cache
def _validators() -> DocumentValidators:
    return DocumentValidators(current_surface())

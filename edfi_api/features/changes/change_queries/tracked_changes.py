"""Reads deletes and key changes of one resource in a window of versions: pages and counts, each in one statement.

See meadowlark/docs/reference/contract.md#change-queries.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from edfi_api.core.queries.selection import Window
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import RowPolicy
from edfi_api.features.changes.change_queries.models import KeyField
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import Resource

# Documents that were created again within the window are left out. Later ones do not count, so the list does not change
# while a client pages through a window in the past, and no page skips an entry.
_DELETES = """
SELECT d.change_version, d.document_uuid, d.key_values::text
  FROM deleted_document d
 WHERE d.resource_type_id = %(type)s AND d.change_version BETWEEN %(first)s AND %(last)s{only}
   AND NOT EXISTS (
       SELECT FROM alias a JOIN document again ON again.id = a.document_id
        WHERE a.referential_id = ANY (d.aliases) AND again.resource_type_id = d.resource_type_id
          AND again.change_version <= %(last)s
   )
"""

# Several key changes of one document are reported as one.
_KEY_CHANGES = """
SELECT max(d.change_version) AS change_version, d.document_uuid,
       (array_agg(d.old_key_values ORDER BY d.change_version))[1]::text,
       (array_agg(d.new_key_values ORDER BY d.change_version DESC))[1]::text
  FROM key_change d
 WHERE d.resource_type_id = %(type)s AND d.change_version BETWEEN %(first)s AND %(last)s
 GROUP BY d.document_uuid
"""

# A policy decides on the values before each change, the first allowed of which are the old ones, and on those behind
# the last change: the new key of a document that has left the client's rights is none of its business. Those are the
# values before the next change of its key, otherwise those of the document, or of the deleted one.
_VISIBLE_KEY_CHANGES = """
SELECT c.change_version, c.document_uuid, c.old_key_values, c.new_key_values::text
  FROM (
    SELECT max(d.change_version) AS change_version, d.document_uuid,
           (array_agg(d.old_key_values ORDER BY d.change_version) FILTER (WHERE d.was_allowed))[1]::text
           AS old_key_values,
           (array_agg(d.new_key_values ORDER BY d.change_version DESC))[1] AS new_key_values
      FROM (
        SELECT d.*, {allowed} AS was_allowed FROM (SELECT *, old_key_values AS key_values FROM key_change) d
         WHERE d.resource_type_id = %(type)s AND d.change_version BETWEEN %(first)s AND %(last)s
      ) d
     GROUP BY d.document_uuid HAVING bool_or(d.was_allowed)
  ) c CROSS JOIN LATERAL (
    SELECT later.*, c.new_key_values AS key_values
      FROM (
        SELECT k.change_version AS at, k.resource_type_id, k.document_uuid, k.organization, k.student, k.contact,
               k.staff, k.namespace, k.opens_pathway
          FROM (
            SELECT change_version FROM superseded_document WHERE document_uuid = c.document_uuid
             UNION ALL
            SELECT change_version FROM document WHERE document_uuid = c.document_uuid
             UNION ALL
            SELECT last_change_version FROM deleted_document WHERE document_uuid = c.document_uuid
          ) v JOIN key_change k ON k.resource_type_id = %(type)s AND k.change_version = v.change_version
         WHERE v.change_version > c.change_version
         UNION ALL
        SELECT x.change_version, x.resource_type_id, x.document_uuid, x.organization, x.student, x.contact, x.staff,
               x.namespace, x.opens_pathway
          FROM deleted_document x WHERE x.document_uuid = c.document_uuid AND x.change_version > c.change_version
         UNION ALL
        SELECT {no_end}, p.resource_type_id, p.document_uuid, p.organization, p.student, p.contact, p.staff,
               p.namespace, p.opens_pathway
          FROM document p WHERE p.document_uuid = c.document_uuid
      ) later
     ORDER BY later.at LIMIT 1
  ) d
 WHERE {allowed}
"""
_NO_END = str(2**63 - 1)

_PAGE = "{changes} ORDER BY change_version LIMIT %(size)s OFFSET %(offset)s"
_COUNT = "SELECT count(*) FROM ({changes}) changes"

_NEWEST = Sql("SELECT newest_change_version()")


@dataclass(frozen=True, slots=True)
class Delete:
    """A deleted document; `key_values` is JSON text."""

    change_version: int
    document_uuid: UUID
    key_values: str


@dataclass(frozen=True, slots=True)
class TrackedKeyChange:
    """A document whose identity changed: its first old and last new key values in the window, as JSON text."""

    change_version: int
    document_uuid: UUID
    old_key_values: str
    new_key_values: str


@dataclass(frozen=True, slots=True)
class TrackedWindow:
    """The deletes and key changes of a resource in a window that the policy for ReadChanges allows."""

    resource: Resource
    window: Window
    policy: RowPolicy | None = None
    using: str = field(kw_only=True)

    def deletes(self, size: int, offset: int) -> list[Delete]:
        return [Delete(*row) for row in self._page(_DELETES, size, offset)]

    def count_deletes(self) -> int:
        return self._count(_DELETES)

    def key_changes(self, size: int, offset: int) -> list[TrackedKeyChange]:
        return [TrackedKeyChange(*row) for row in self._page(_KEY_CHANGES, size, offset)]

    def count_key_changes(self) -> int:
        return self._count(_KEY_CHANGES)

    def _page(self, changes: str, size: int, offset: int) -> list[tuple[Any, ...]]:
        page = Sql(_PAGE, {"size": size, "offset": offset})
        return self._run(page.fill(changes=self._visible(changes)))

    def _count(self, changes: str) -> int:
        number: int = self._run(Sql(_COUNT).fill(changes=self._visible(changes)))[0][0]
        return number

    def _visible(self, changes: str) -> Sql:
        resource_type = resource_types.numbers(self.using)[self.resource.name]
        facts = {"type": resource_type, "first": self.window.first, "last": self.window.last}
        if changes is _KEY_CHANGES and self.policy is not None:
            return Sql(_VISIBLE_KEY_CHANGES, facts).fill(allowed=self.policy.using, no_end=_NO_END)
        return Sql(changes, facts).fill(only="" if self.policy is None else " AND " + self.policy.using)

    def _run(self, statement: Sql) -> list[tuple[Any, ...]]:
        return run_with_retries(lambda: execute(statement, self.using))


def newest_change_version(using: str) -> int:
    """The version up to which a query that starts after this call sees every change there will ever be.

    `using` must be the primary: a replica may lag behind the versions that clients have seen.
    """
    version: int = run_with_retries(lambda: execute(_NEWEST, using))[0][0]
    return version


def synchronize(resources: Iterable[Resource], using: str) -> None:
    """Store the key fields of these resources. Key values of earlier deletes stay as they are."""
    numbers = resource_types.numbers(using)
    wanted = {_facts(field): field for each in resources for field in _key_fields(each, numbers[each.name])}
    types = {field.resource_type_id for field in wanted.values()}
    table = KeyField.objects.using(using)
    stored = {_facts(field): field for field in table.filter(resource_type_id__in=types)}
    with transaction.atomic(using):
        table.filter(pk__in=[stored[facts].pk for facts in stored.keys() - wanted.keys()]).delete()
        table.bulk_create(wanted[facts] for facts in wanted.keys() - stored.keys())


def _facts(field: KeyField) -> tuple[object, ...]:
    return field.resource_type_id, field.name, tuple(field.path), field.ignores_case


def _key_fields(resource: Resource, resource_type: int) -> Iterator[KeyField]:
    for query_field, path in resource.key_fields:
        # A descriptor's own key compares case-insensitively, as its URI.
        ignores_case = resource.is_descriptor or is_descriptor_name(path.steps[-1])
        yield KeyField(
            resource_type_id=resource_type, name=query_field.name, path=list(path.steps), ignores_case=ignores_case
        )


def fill_key_fields(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`; runs after resource types have been numbered."""
    synchronize(current_surface().resources, using)

"""Views that read from ordinary tables instead of documents, for frequent queries over whole tables.

Of a copied view `edfi.student`, the table is `edfi_copy.student`, and the live view stays as `edfi_live.student`. Both
have one column more, the id of the document, by which rows are replaced. `edfi.student` keeps its name and columns. A
table that was never filled is not read: `edfi.student` is live until `refreshing` has filled it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from django.db import connections
from prometheus_client.metrics_core import GaugeMetricFamily

from edfi_api.features.sql_views import catalog
from edfi_api.features.sql_views.changes import Changes, ViewsNotInstalled
from edfi_api.features.sql_views.definitions import Definition, view_definition
from edfi_api.features.sql_views.shape import qualified

DOCUMENT = "document_uuid"
_RECORDED = """
SELECT schema, name, digest, resource_types, primary_key, change_version,
       to_regclass(format('%I.%I', schema || '_live', name)) IS NOT NULL
       AND (change_version IS NULL OR to_regclass(format('%I.%I', schema || '_copy', name)) IS NOT NULL)
  FROM sql_copy
 ORDER BY schema, name
"""
_RECORD = "INSERT INTO sql_copy (schema, name, digest, resource_types, primary_key) VALUES (%s, %s, %s, %s, %s)"
_FORGET = "DELETE FROM sql_copy WHERE schema = %s AND name = %s"


@dataclass(frozen=True, slots=True)
class Copying:
    """The choice of the views that shall be copies: those that are, and those whose names match a pattern such as
    `edfi.student*`; or none.
    """

    patterns: tuple[str, ...] = ()
    none: bool = False

    def chooses(self, definition: Definition, *, is_copied: bool) -> bool:
        """Return whether the definition is chosen: only a view whose rows are those of documents can be a copy."""
        if self.none or not definition.resource_types:
            return False
        return is_copied or any(fnmatchcase(str(definition), pattern) for pattern in self.patterns)

    def useless_patterns(self, definitions: Iterable[Definition]) -> list[str]:
        """The patterns that no view that can be a copy matches."""
        names = [str(each) for each in definitions if each.resource_types]
        return [pattern for pattern in self.patterns if not any(fnmatchcase(name, pattern) for name in names)]


@dataclass(frozen=True, slots=True)
class Copy:
    """A view that is a copy. `digest` is that of the live view's statement, `resource_types` are those of its rows.

    `change_version` is that of the newest change in the table, None if it was never filled.
    """

    schema: str
    name: str
    digest: str
    resource_types: Sequence[int]
    primary_key: Sequence[str]
    change_version: int | None
    is_there: bool = True

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    def is_of(self, definition: Definition) -> bool:
        """Return whether it is complete, and a copy of this view as it is now."""
        return self.is_there and self.digest == definition.digest

    @property
    def view(self) -> str:
        return qualified(self.schema, self.name)

    @property
    def live(self) -> str:
        return qualified(f"{self.schema}_live", self.name)

    @property
    def table(self) -> str:
        return qualified(f"{self.schema}_copy", self.name)


def recorded(using: str) -> list[Copy]:
    """The copies of a database, by name."""
    with connections[using].cursor() as cursor:
        cursor.execute(_RECORDED)
        return [Copy(*row) for row in cursor.fetchall()]


def age(using: str) -> float | None:
    """Seconds since the copies were refreshed, of the oldest; None if there are none."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM now() - min(refreshed_at))::float FROM sql_copy")
        row: tuple[float | None] = cursor.fetchone()
        return row[0]


def synchronize(
    changes: Changes,
    definitions: Iterable[Definition],
    copying: Copying,
    is_chosen: Callable[[str], bool],
    readers: Mapping[str, Iterable[str]],
) -> None:
    """Set up the copies that are chosen, to be filled, and remove all others, of the chosen schemas.

    It is run after the views were brought in line: one whose statement has changed reads from documents again.
    """
    by_name = {str(each): each for each in definitions}
    present = {str(copy): copy for copy in recorded(changes.using) if is_chosen(copy.schema)}
    chosen = {name: each for name, each in by_name.items() if copying.chooses(each, is_copied=name in present)}
    kept = {name: copy for name, copy in present.items() if name in chosen and copy.is_of(chosen[name])}
    removed = [copy for name, copy in present.items() if name not in kept]
    for copy in removed:
        _remove(changes, copy, by_name.get(str(copy)))
    added = [_set_up(changes, each) for name, each in chosen.items() if name not in kept]
    _grant(changes, [*kept.values(), *added], added, readers)
    changes.drop_empty_schemas(sorted({schema for copy in removed for schema in _schemas(copy)}))


def _set_up(changes: Changes, definition: Definition) -> Copy:
    view = definition.view
    if view is None or view.table is None:
        raise LookupError(f"{definition} is not a view of a table")
    copy = Copy(
        view.schema,
        view.name,
        definition.digest,
        definition.resource_types,
        view.table.primary_key,
        change_version=None,
    )
    for schema in _schemas(copy):
        if catalog.is_present(changes.using, schema, copy.name):
            raise ViewsNotInstalled(f"{schema}.{copy.name} exists already, and is not a copy")
        changes.execute(f"CREATE SCHEMA IF NOT EXISTS {qualified(schema)}")
    live = replace(view, schema=f"{view.schema}_live", columns=(*view.columns, (DOCUMENT, "d.document_uuid")))
    changes.execute(view_definition(live).create)
    changes.created.append(str(live))
    changes.run(_RECORD, [copy.schema, copy.name, copy.digest, list(copy.resource_types), list(copy.primary_key)])
    return copy


def _remove(changes: Changes, copy: Copy, definition: Definition | None) -> None:
    """The view reads from documents again, if it is still there."""
    if definition is not None and copy.digest == definition.digest:
        changes.execute(definition.create)
    changes.execute(f"DROP TABLE IF EXISTS {copy.table}")
    if catalog.is_present(changes.using, f"{copy.schema}_live", copy.name):
        changes.drop_views([copy.live])
    changes.run(_FORGET, [copy.schema, copy.name])
    changes.dropped.append(f"{copy.schema}_copy.{copy.name}")


def _grant(
    changes: Changes, copies: Iterable[Copy], added: Sequence[Copy], readers: Mapping[str, Iterable[str]]
) -> None:
    """Readers of a schema may read its live views. The tables are read through the views alone."""
    by_schema = defaultdict(list)
    for copy in copies:
        by_schema[copy.schema].append(copy)
    for schema, of_schema in by_schema.items():
        live = f"{schema}_live"
        present = catalog.readers(changes.using, live)
        for role in readers[schema]:
            shown = [copy.live for copy in of_schema if role not in present or copy in added]
            if role not in present:
                changes.grant("USAGE", f"SCHEMA {qualified(live)}", role)
            if shown:
                changes.grant("SELECT", ", ".join(shown), role)


def _schemas(copy: Copy) -> tuple[str, str]:
    return f"{copy.schema}_live", f"{copy.schema}_copy"


def metrics() -> Iterator[GaugeMetricFamily]:
    """The age of the SQL views that are copies."""
    seconds = GaugeMetricFamily(
        "meadowlark_sql_copy_age_seconds", "Time since the copies of SQL views were refreshed; absent without any."
    )
    oldest = age("default")
    if oldest is not None:
        seconds.add_metric([], oldest)
    yield seconds

"""The foreign keys that the tables of the ODS have. Views cannot have any, but their readers join by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edfi_api.features.sql_views.bodies import ResourceBodies
from edfi_api.features.sql_views.shape import RowKind, SqlTable
from edfi_api.model.metaed.model import EntityKey
from edfi_api.model.surface.columns import Column
from edfi_api.model.surface.path_table import PropertyPath
from edfi_api.model.surface.resource import JsonPath

_EXTENSIONS = (RowKind.EXTENSION, RowKind.COMMON_EXTENSION)


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of a table are the `key` of a row of the `target`, each in the order of the target's primary key."""

    columns: tuple[str, ...]
    target: SqlTable
    key: tuple[str, ...]

    def __str__(self) -> str:
        """`calendarcode, schoolid, schoolyear -> edfi.calendar`; with the target's columns if they have other names."""
        names = "" if self.columns == self.key else f" ({', '.join(self.key)})"
        return f"{', '.join(self.columns)} -> {self.target}{names}"


class ForeignKeys:
    """The foreign keys between these tables."""

    def __init__(self, tables: Iterable[SqlTable], bodies: ResourceBodies) -> None:
        self._bodies = bodies
        self._tables: dict[tuple[EntityKey, PropertyPath], SqlTable] = {}
        self._all_descriptors: SqlTable | None = None
        for table in tables:
            if table.rows is RowKind.ANY_DESCRIPTOR:
                self._all_descriptors = table
            elif table.rows not in _EXTENSIONS:
                self._tables[table.owner.key, table.path] = table

    def of(self, table: SqlTable) -> tuple[ForeignKey, ...]:
        """Return the foreign keys of a table: to the table around it or of its base, then in the order of its
        properties, each once.
        """
        found = [*self.around(table), *self._of_references(table)]
        return tuple({str(key): key for key in found}.values())

    def around(self, table: SqlTable) -> Iterator[ForeignKey]:
        """Yield the key to the table around it, or of its base; none of a table that has neither."""
        target = self._all_descriptors if table.rows is RowKind.DESCRIPTOR else self._table_around(table)
        if target is not None:
            own = table.primary_key if table.path == () else target.primary_key
            yield ForeignKey(_as_renamed(own, target.primary_key), target, target.primary_key)

    def _table_around(self, table: SqlTable) -> SqlTable | None:
        """Return the table of what the rows of the table are a part: items of a collection of a document, additions of
        what is extended, documents of a subclass of those of the base.
        """
        if table.entity is None:
            return None
        is_item = table.path and table.rows not in _EXTENSIONS
        longest = len(table.path) - 1 if is_item else len(table.path)
        lineage = list(self._bodies.model.lineage(table.entity))
        keys = ((entity.key, table.path[:length]) for length in range(longest, -1, -1) for entity in lineage)
        return next((found for key in keys if (found := self._tables.get(key)) not in (None, table)), None)

    def _of_references(self, table: SqlTable) -> Iterator[ForeignKey]:
        """A reference of which the table does not hold the whole key has none."""
        for reference in table.references:
            target = self._tables.get((self._bodies.model.target(reference.prop).key, ()))
            columns = [self._holder(table, column) for column in reference.key]
            if target is not None and None not in columns:
                yield ForeignKey(tuple(name for name in columns if name), target, target.primary_key)

    def _holder(self, table: SqlTable, part: Column) -> str | None:
        """The column of the table that holds this part of the key of a reference: its own, or the one with which it is
        merged."""
        sources = [(column.name, column.source) for column in table.columns if isinstance(column.source, Column)]
        for path in part.paths:
            for name, source in sources:
                if path in source.paths:
                    return name
        wanted = self._values(table, part)
        return next((name for name, source in sources if wanted & self._values(table, source)), None)

    def _values(self, table: SqlTable, column: Column) -> set[JsonPath]:
        """Return where a column's values stand in the body."""
        bodies = self._bodies.of(table.owner)[:1]
        found = (body.value(table.owner, path) for body in bodies for path in column.paths)
        return {path for path in found if path is not None}


def _as_renamed(names: tuple[str, ...], key: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a key that is another one with at most one column renamed, in the order of the other."""
    renamed = iter([name for name in names if name not in key])
    return tuple(name if name in names else next(renamed) for name in key)

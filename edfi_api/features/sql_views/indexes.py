"""Indexes of documents that serve conditions on columns of views: WHERE lastsurname = 'Lark'.

An index is of the column's expression, over the documents of the view alone. Its name is made from its definition and
its comment is the column, so the catalog says which indexes are there, and whether they are still those of the model.
They are built and dropped concurrently, without blocking writers; one whose build was interrupted is built again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from django.db import connections
from django.db.utils import NotSupportedError, ProgrammingError

from edfi_api.features.sql_views.casts import literal
from edfi_api.features.sql_views.changes import ViewsNotInstalled
from edfi_api.features.sql_views.rows import of_types
from edfi_api.features.sql_views.shape import RowKind
from edfi_api.features.sql_views.views import View

_ROWS = (RowKind.DOCUMENT, RowKind.ANY_DESCRIPTOR, RowKind.SCHOOL_YEAR)
# What the texts and numbers of these types mean depends on settings of the session.
_DEPENDENT = ("DATE", "TIME", "TIMESTAMP", "MONEY")
_ALIAS = re.compile(r"\bd\.")
_INSTALLED = """
SELECT c.relname, coalesce(obj_description(c.oid), ''), i.indisvalid
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = 'document'::regclass AND c.relname ~ '^sql_view_[0-9a-f]{12}$'
 ORDER BY 2
"""


_IS_USABLE = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('public.document_usi')"
_DROP_OF_PEOPLE = "DROP INDEX {concurrently} IF EXISTS public.document_usi"
# PostgreSQL uses its statistics for joins only if it is unique, and reads the columns of the join in it.
_OF_PEOPLE = (
    _DROP_OF_PEOPLE,
    "CREATE UNIQUE INDEX {concurrently} document_usi ON public.document ((id::integer))"
    " INCLUDE (id, resource_type_id, student, contact, staff) WHERE is_person AND id BETWEEN 1 AND 2147483647",
    "COMMENT ON INDEX public.document_usi IS"
    " 'A person by the number of the row, which is studentusi and the like in SQL views.'",
)


@dataclass(frozen=True, slots=True)
class ColumnIndex:
    """An index of a column such as `edfi.student.lastsurname`; `target` is what it is ON."""

    column: str
    target: str

    @classmethod
    def of(cls, column: str, views: Iterable[View]) -> ColumnIndex:
        """Raises ViewsNotInstalled for a column that is not there, or that PostgreSQL could not index."""
        view_name, _, name = column.rpartition(".")
        view = next((view for view in views if str(view) == view_name), None)
        expression = None if view is None else dict(view.columns).get(name)
        if view is None or view.table is None or expression is None:
            raise ViewsNotInstalled(f"there is no column {column}")
        if view.table.rows not in _ROWS:
            raise ViewsNotInstalled(f"{column} cannot be indexed: its rows are parts of documents")
        type_ = next((each.type for each in view.table.columns if each.name == name), "")
        if type_ in _DEPENDENT:
            raise ViewsNotInstalled(f"{column} cannot be indexed: values of type {type_} depend on the session")
        if "SELECT" in expression or not _ALIAS.search(expression):
            raise ViewsNotInstalled(f"{column} cannot be indexed: its values stand in other documents")
        conditions = _ALIAS.sub("", of_types(view.resource_types))
        return cls(column, f"public.document (({_ALIAS.sub('', expression)})) WHERE {conditions}")

    @property
    def name(self) -> str:
        return f"sql_view_{sha256(f'{self.column} {self.target}'.encode()).hexdigest()[:12]}"

    @property
    def create(self) -> str:
        return f"CREATE INDEX CONCURRENTLY {self.name} ON {self.target}"


@dataclass(frozen=True, slots=True)
class InstalledIndex:
    """An index that is there; the column is empty if its build was interrupted."""

    name: str
    column: str
    is_valid: bool


def installed(using: str) -> list[InstalledIndex]:
    """The indexes that the command has built."""
    with connections[using].cursor() as cursor:
        cursor.execute(_INSTALLED)
        return [InstalledIndex(*row) for row in cursor.fetchall()]


def wanted(using: str, views: Iterable[View], added: Iterable[str], removed: Iterable[str]) -> list[ColumnIndex]:
    """The indexes that there shall be: of the columns that have one, unless the model lacks them, and of these.

    Raises ViewsNotInstalled for a column to add that cannot be indexed, and one to remove that has no index.
    """
    views = list(views)
    present = {each.column for each in installed(using) if each.column}
    without = sorted(set(removed) - present)
    if without:
        raise ViewsNotInstalled(f"there is no index of {', '.join(without)}")
    chosen = {column: ColumnIndex.of(column, views) for column in added}
    for column in sorted(present - set(removed) - chosen.keys()):
        try:
            chosen[column] = ColumnIndex.of(column, views)
        except ViewsNotInstalled:
            continue
    return list(chosen.values())


def statements(using: str, indexes: Iterable[ColumnIndex]) -> Iterator[str]:
    """Yield what brings the indexes of the database in line with these."""
    by_name = {each.name: each for each in indexes}
    there = {each.name: each for each in installed(using)}
    usable = {name for name, each in there.items() if name in by_name and each.is_valid and each.column}
    yield from (f"DROP INDEX CONCURRENTLY public.{name}" for name in sorted(there.keys() - usable))
    for name in sorted(by_name.keys() - usable):
        yield by_name[name].create
        yield f"COMMENT ON INDEX public.{name} IS {literal(by_name[name].column)}"


def of_people(using: str, *, are_viewed: bool) -> Iterator[str]:
    """Yield what builds the index of people by their numbers if views need it, and drops it otherwise. Every new person
    has an entry in it, so it is there only while there are views."""
    with connections[using].cursor() as cursor:
        cursor.execute(_IS_USABLE)
        found = cursor.fetchone()
    statements: tuple[str, ...] = ()
    if are_viewed and found != (True,):
        statements = _OF_PEOPLE
    elif found and not are_viewed:
        statements = (_DROP_OF_PEOPLE,)
    # PostgreSQL refuses it in a transaction, which a caller may have begun.
    concurrently = "" if connections[using].in_atomic_block else "CONCURRENTLY"
    yield from (statement.format(concurrently=concurrently) for statement in statements)


def execute(using: str, statement: str) -> None:
    """Run one of these statements, outside a transaction. Raises ViewsNotInstalled if PostgreSQL refuses it."""
    try:
        with connections[using].cursor() as cursor:
            cursor.execute(statement)
    except (ProgrammingError, NotSupportedError) as error:
        raise ViewsNotInstalled(f"{statement}: {error}".strip()) from error

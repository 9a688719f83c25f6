"""Brings the tables of copied views up to date, all to the same state, in one transaction.

The rows of documents that were changed or deleted since the last time are replaced; both are found by their change
versions. A table of which more than a tenth is to be replaced is built again and swapped, which takes less time and
leaves no dead rows. Readers see the old rows until the commit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connections, transaction
from django.db.utils import IntegrityError, OperationalError
from psycopg import errors, sql

from edfi_api.common.one_process import exclusively
from edfi_api.core.storage.driver.lock_turns import holders, limit_waits
from edfi_api.features.changes.change_queries.tracked_changes import newest_change_version
from edfi_api.features.sql_views import copies, row_filter
from edfi_api.features.sql_views.changes import ViewsNotInstalled, refusals
from edfi_api.features.sql_views.copies import DOCUMENT, Copy

# Fewer documents are replaced one by one, however small the table is.
_FEW = 1_000
_LARGEST_SHARE = 0.1
# The swap waits for readers of the old table, and new readers wait for the swap: so it waits briefly, but repeatedly.
_SWAP_WAIT = "100 ms"
_SWAP_ATTEMPTS = 50

_CHANGED = """
CREATE TEMPORARY TABLE changed_document ON COMMIT DROP AS
SELECT t.type, c.document_uuid, c.change_version
  FROM unnest(%(types)s::smallint[]) AS t (type)
 CROSS JOIN LATERAL (
    SELECT document_uuid, change_version FROM document
     WHERE resource_type_id = t.type AND change_version > %(version)s
     UNION ALL
    SELECT document_uuid, change_version FROM deleted_document
     WHERE resource_type_id = t.type AND change_version > %(version)s
 ) c
"""
_OF_COPY = "SELECT document_uuid FROM changed_document WHERE type = ANY (%(types)s) AND change_version > %(version)s"
_REFRESHED = "UPDATE sql_copy SET change_version = %s, refreshed_at = now() WHERE schema = %s AND name = %s"
_COLUMNS = """
SELECT attname::text FROM pg_attribute
 WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> %s
 ORDER BY attnum
"""


@dataclass(slots=True)
class Refreshed:
    """The result of a refresh: the numbers of tables and of rows that were replaced or added, the tables that were
    built, and those without their primary key, because two rows have the same or one has none."""

    change_version: int
    copies: int = 0
    rows: int = 0
    built: list[str] = field(default_factory=list)
    without_key: list[str] = field(default_factory=list)
    seconds: float = 0

    def __str__(self) -> str:
        """Return the text for the operator: one line, and one more for tables without primary key."""
        built = f"; built: {', '.join(self.built)}" if self.built else ""
        line = (
            f"{self.copies} tables are at change version {self.change_version}: {self.rows} rows written in"
            f" {self.seconds:.1f} s{built}"
        )
        if not self.without_key:
            return line
        return f"{line}\nwithout a primary key, since rows have no value or the same: {', '.join(self.without_key)}"


def refresh(using: str) -> Refreshed:
    """Bring all copies up to date. Raises ViewsNotInstalled if there are none, if another command is at
    them, or if readers of a table that has to be swapped do not end."""
    started = time.monotonic()
    with exclusively("sql_view", using, _at_them):
        # Before the snapshot: a transaction that begins later sees every change up to this version.
        refreshed = Refreshed(newest_change_version(using))
        with refusals(using), transaction.atomic(using):
            _Refresh(using, refreshed).run()
    refreshed.seconds = time.monotonic() - started
    return refreshed


def _at_them() -> ViewsNotInstalled:
    return ViewsNotInstalled("another command creates or refreshes SQL views in this database")


@dataclass(frozen=True, slots=True)
class _Refresh:
    """The transaction of one refresh."""

    using: str
    refreshed: Refreshed

    def run(self) -> None:
        self._run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        limit_waits(self.using)
        present = copies.recorded(self.using)
        if not present:
            raise ViewsNotInstalled("no view is a copy; create_sql_views --copy 'edfi.student*' makes some")
        incomplete = [str(copy) for copy in present if not copy.is_there]
        if incomplete:
            raise ViewsNotInstalled(f"tables are missing; create_sql_views makes them again: {', '.join(incomplete)}")
        self._find_changes(present)
        built = [copy for copy in present if not self._replace_rows(copy)]
        self._swap([(copy, self._build(copy, number)) for number, copy in enumerate(built)])
        for copy in present:
            self._run(_REFRESHED, [self.refreshed.change_version, copy.schema, copy.name])
        self.refreshed.copies = len(present)
        self.refreshed.built = [str(copy) for copy in built]

    def _find_changes(self, present: Sequence[Copy]) -> None:
        filled = [copy for copy in present if copy.change_version is not None]
        types = sorted({type_ for copy in filled for type_ in copy.resource_types})
        oldest = min((copy.change_version or 0 for copy in filled), default=0)
        self._run(_CHANGED, {"types": types, "version": oldest})
        self._run("ANALYZE changed_document")

    def _replace_rows(self, copy: Copy) -> bool:
        """Replace the rows of changed documents; False if the table has to be built instead."""
        if copy.change_version is None:
            return False
        parameters = {"types": list(copy.resource_types), "version": copy.change_version}
        changed = self._value(f"SELECT count(DISTINCT c.document_uuid) FROM ({_OF_COPY}) c", parameters)
        if not changed:
            return True
        if changed > _FEW and changed > _LARGEST_SHARE * self._documents(copy):
            return False
        try:
            with transaction.atomic(self.using):
                self._run(f"DELETE FROM {copy.table} WHERE {DOCUMENT} IN ({_OF_COPY})", parameters)
                self.refreshed.rows += self._run(
                    f"INSERT INTO {copy.table} SELECT * FROM {copy.live} WHERE {DOCUMENT} IN ({_OF_COPY})", parameters
                )
        except (IntegrityError, OperationalError) as error:
            if not _is_refused_key(error):
                raise
            return False
        return True

    def _documents(self, copy: Copy) -> int:
        return int(
            self._value("SELECT count(*) FROM document WHERE resource_type_id = ANY (%s)", [copy.resource_types])
        )

    def _build(self, copy: Copy, number: int) -> str:
        """Make a new table, filled and indexed, while the old one is there; return its name."""
        table = f'"{copy.schema}_copy"."#{number}"'
        self.refreshed.rows += self._run(f"CREATE TABLE {table} AS TABLE {copy.live}")
        if not self._add_key(table, copy.primary_key):
            self.refreshed.without_key.append(str(copy))
        self._run(f"CREATE INDEX ON {table} ({DOCUMENT})")
        for statement in row_filter.of_copy(self.using, table) if row_filter.is_on(self.using) else ():
            self._run(statement)
        self._run(f"COMMENT ON TABLE {table} IS 'Kept by refresh_sql_views: the rows of {copy.live}.'")
        self._run(f"ANALYZE {table}")
        return table

    def _add_key(self, table: str, primary_key: Sequence[str]) -> bool:
        """Add the primary key of the ODS. The API accepts documents that have no value in a column of it, or one that
        the column has no room for; then there is an ordinary index, or none if values are too long for one."""
        columns = ", ".join(primary_key)
        for statement in (f"ALTER TABLE {table} ADD PRIMARY KEY ({columns})", f"CREATE INDEX ON {table} ({columns})"):
            try:
                with transaction.atomic(self.using):
                    self._run(statement)
            except (IntegrityError, OperationalError) as error:
                if not _is_refused_key(error):
                    raise
            else:
                return "PRIMARY KEY" in statement
        return False

    def _swap(self, tables: Sequence[tuple[Copy, str]]) -> None:
        """Let the views read the new tables, all or none; again and again while readers of the old ones are at work."""
        statements = [statement for copy, table in tables for statement in self._swapping(copy, table)]
        self._run(f"SET LOCAL lock_timeout = '{_SWAP_WAIT}'")
        for _ in range(_SWAP_ATTEMPTS):
            try:
                with transaction.atomic(self.using):
                    for statement in statements:
                        self._run(statement)
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, errors.LockNotAvailable):
                    raise
        raise ViewsNotInstalled("tables are being read and cannot be swapped", *holders(self.using))

    def _swapping(self, copy: Copy, table: str) -> list[str]:
        columns = ", ".join(sql.Identifier(name).as_string(None) for name in self._columns(copy.live))
        return [
            f"CREATE OR REPLACE VIEW {copy.view} AS SELECT {columns} FROM {table} CROSS JOIN (SELECT) AS read_only",
            f"DROP TABLE IF EXISTS {copy.table}",
            f"ALTER TABLE {table} RENAME TO {copy.name}",
        ]

    def _columns(self, view: str) -> list[str]:
        with connections[self.using].cursor() as cursor:
            cursor.execute(_COLUMNS, [view, DOCUMENT])
            return [name for (name,) in cursor.fetchall()]

    def _run(self, statement: str, parameters: Any = None) -> int:
        """The number of rows that the statement has written."""
        with connections[self.using].cursor() as cursor:
            cursor.execute(statement, parameters)
            return int(cursor.rowcount)

    def _value(self, statement: str, parameters: Any) -> Any:
        with connections[self.using].cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchone()[0]


def _is_refused_key(error: Exception) -> bool:
    return isinstance(error, IntegrityError) or isinstance(error.__cause__, errors.ProgramLimitExceeded)

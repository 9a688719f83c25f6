"""Brings the views of a database in line with the model, in one transaction: all of them or none.

Readers see the old views until the commit. Only what is listed in `sql_view` is ever replaced or dropped; what others
have built on a view that has to be dropped stops the command, unless it may drop that too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from django.db import connections, transaction
from django.db.utils import ProgrammingError
from psycopg import errors, sql

from edfi_api.core.storage.driver.lock_turns import limit_waits, run_in_turns
from edfi_api.features.sql_views import catalog, copies
from edfi_api.features.sql_views.catalog import InstalledObject
from edfi_api.features.sql_views.changes import LOCK, Changes, ViewsNotInstalled, refusals
from edfi_api.features.sql_views.copies import Copying
from edfi_api.features.sql_views.definitions import Definition, ObjectKind
from edfi_api.features.sql_views.row_filter import RowFilter
from edfi_api.features.sql_views.shape import qualified

# Objects are dropped before those that they stand in.
_DROP_ORDER = (ObjectKind.VIEW, ObjectKind.FUNCTION, ObjectKind.SCHEMA)
_RECORD = """
INSERT INTO sql_view (schema, name, kind, digest) VALUES (%s, %s, %s, %s)
    ON CONFLICT (schema, name) DO UPDATE SET kind = excluded.kind, digest = excluded.digest
"""

# The planner knows little about values in JSON, and expects one row where there are thousands. A nested loop is right
# only if that is true, and takes minutes if not; a hash join takes the time of reading both sides once.
_SETTINGS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "10min",
    "idle_in_transaction_session_timeout": "1min",
    "work_mem": "64MB",
    "enable_nestloop": "off",
}
_CREATE = "CREATE ROLE {} LOGIN CONNECTION LIMIT 10 PASSWORD {}"


@dataclass(frozen=True, slots=True)
class NewReader:
    """A role to be made, with a password that is shown once."""

    name: str
    password: str = field(default_factory=lambda: secrets.token_urlsafe(18), repr=False)

    def create(self, changes: Changes) -> None:
        """Make the role, in the transaction that makes the views. PostgreSQL is sent the hash of the password alone.

        Raises ViewsNotInstalled if the role exists, or may not be created from here.
        """
        try:
            for statement in self._statements(changes.using):
                changes.execute(statement)
        except ProgrammingError as error:
            match error.__cause__:
                case errors.DuplicateObject():
                    reasons = [f"there is a role {self.name} already; --reader {self.name} lets it read the views"]
                case errors.InsufficientPrivilege():
                    reasons = [
                        "roles may not be created from here; have an administrator execute this, then use"
                        f" --reader {self.name}:",
                        *(f"{statement};" for statement in self._statements(changes.using)),
                        f"The password is {self.password}",
                    ]
                case _:
                    raise
            raise ViewsNotInstalled(*reasons) from error

    def address(self, using: str) -> str:
        """Return what any client of PostgreSQL connects with."""
        connection = connections[using]
        connection.ensure_connection()
        info = connection.connection.info
        user = f"{quote(self.name, safe='')}:{self.password}"
        database = quote(info.dbname, safe="")
        if info.host.startswith("/"):
            return f"postgresql://{user}@/{database}?host={quote(info.host)}"
        return f"postgresql://{user}@{info.host}:{info.port}/{database}"

    def _statements(self, using: str) -> list[str]:
        name = sql.Identifier(self.name).as_string(None)
        hashed = connections[using].connection.pgconn.encrypt_password(
            self.password.encode(), self.name.encode(), b"scram-sha-256"
        )
        settings = (f"ALTER ROLE {name} SET {setting} = '{value}'" for setting, value in _SETTINGS.items())
        return [_CREATE.format(name, sql.Literal(hashed.decode()).as_string(None)), *settings]


@dataclass(frozen=True, slots=True)
class Installation:
    """One run against a database. `schemas` limits it to these; None means all. `copying` chooses the views that read
    from tables, `row_filter` says whether readers see the rows of their organizations alone, `new_reader` is a role to
    be made that reads, too."""

    using: str
    schemas: frozenset[str] | None = None
    readers: tuple[str, ...] = ()
    drops_dependents: bool = False
    copying: Copying = field(default_factory=Copying)
    row_filter: RowFilter | None = None
    new_reader: NewReader | None = None

    def install(self, wanted: Sequence[Definition], fingerprint: str, *, is_dry_run: bool = False) -> Changes:
        """Create, replace and drop until the database has these definitions.

        `fingerprint` identifies model and code, for the check whether the views are up to date. Raises
        ViewsNotInstalled if others have objects in the way or built on a view that has to go, or hold a lock.
        """
        chosen = [each for each in wanted if self._is_chosen(each.schema)]
        return self._run_in_transaction(lambda changes: self._install(changes, chosen, fingerprint), is_dry_run)

    def drop(self, *, is_dry_run: bool = False) -> Changes:
        """Drop everything that the command has created. Raises ViewsNotInstalled as above."""
        return self._run_in_transaction(lambda changes: self._install(changes, [], ""), is_dry_run)

    def _run_in_transaction(self, work: Callable[[Changes], None], is_dry_run: bool) -> Changes:
        with refusals(self.using):
            return run_in_turns(lambda: self._once(work, is_dry_run), self.using)

    def _once(self, work: Callable[[Changes], None], is_dry_run: bool) -> Changes:
        changes = Changes(self.using, self.drops_dependents)
        with transaction.atomic(self.using):
            limit_waits(self.using)
            changes.run(f"SELECT pg_advisory_xact_lock({LOCK})")
            work(changes)
            transaction.set_rollback(is_dry_run, self.using)
        return changes

    def _install(self, changes: Changes, wanted: Sequence[Definition], fingerprint: str) -> None:
        in_the_way = catalog.foreign(self.using, wanted)
        if in_the_way:
            raise ViewsNotInstalled("the schemas have objects of others:", *in_the_way)
        there = {str(each): each for each in catalog.installed(self.using) if self._is_chosen(each.schema)}
        if self.new_reader is not None:
            self.new_reader.create(changes)
        readers = self._readers(wanted)
        names = {str(each) for each in wanted}
        superfluous = [each for each in there.values() if str(each) not in names]
        for kind in _DROP_ORDER:
            self._drop(changes, [each for each in superfluous if each.kind is kind])
        for each in wanted:
            self._install_one(changes, each, there.get(str(each)))
        self._grant(changes, wanted, readers)
        copies.synchronize(changes, wanted, self.copying, self._is_chosen, readers)
        if self.row_filter is not None:
            self.row_filter.synchronize(changes)
        if self.schemas is None:
            changes.run("DELETE FROM sql_view WHERE schema = ''")
            if fingerprint:
                changes.run(_RECORD, ["", "", "model", fingerprint])

    def _install_one(self, changes: Changes, wanted: Definition, present: InstalledObject | None) -> None:
        if present is not None and present.digest == wanted.digest:
            changes.unchanged += 1
            return
        if present is None:
            changes.execute(wanted.create)
            changes.created.append(str(wanted))
        else:
            self._replace(changes, wanted, present)
            changes.replaced.append(str(wanted))
        changes.run(_RECORD, [wanted.schema, wanted.name, wanted.kind, wanted.digest])

    def _replace(self, changes: Changes, wanted: Definition, present: InstalledObject) -> None:
        """Replace an object in place if the columns stay and others only follow them; otherwise the view is dropped
        first.
        """
        try:
            with transaction.atomic(self.using):
                changes.run(wanted.create)
            changes.statements.append(wanted.create)
        except ProgrammingError as error:
            if not isinstance(error.__cause__, errors.InvalidTableDefinition):
                raise
            self._drop(changes, [present])
            changes.dropped.remove(str(present))
            changes.execute(wanted.create)

    def _drop(self, changes: Changes, objects: Sequence[InstalledObject]) -> None:
        """Drop objects of one kind."""
        if not objects:
            return
        kind = objects[0].kind
        names = [qualified(each.schema, each.name) for each in objects]
        if kind is ObjectKind.VIEW:
            changes.drop_views(names)
        elif kind is ObjectKind.FUNCTION:
            changes.execute(f"DROP FUNCTION {', '.join(names)}")
        else:
            changes.drop_empty_schemas([each.schema for each in objects])
        for each in objects:
            changes.run("DELETE FROM sql_view WHERE schema = %s AND name = %s", [each.schema, each.name])
            changes.dropped.append(str(each))

    def _readers(self, wanted: Sequence[Definition]) -> dict[str, list[str]]:
        """Return by schema the roles that read it already, and those that shall."""
        schemas = {each.schema for each in wanted}
        return {schema: sorted({*catalog.readers(self.using, schema), *self.readers}) for schema in schemas}

    def _grant(self, changes: Changes, wanted: Sequence[Definition], readers: dict[str, list[str]]) -> None:
        """USAGE on the schemas and SELECT on each view, whatever a dropped view had taken with it."""
        touched = {*changes.created, *changes.replaced}
        for schema, roles in sorted(readers.items()):
            new = sorted(set(roles) & set(self.readers) - set(catalog.readers(self.using, schema)))
            views = [each for each in wanted if each.schema == schema and each.kind is ObjectKind.VIEW]
            for role in roles:
                shown = views if role in new else [view for view in views if str(view) in touched]
                if role in new:
                    changes.grant("USAGE", f"SCHEMA {qualified(schema)}", role)
                if shown:
                    changes.grant("SELECT", ", ".join(qualified(view.schema, view.name) for view in shown), role)

    def _is_chosen(self, schema: str) -> bool:
        return self.schemas is None or schema in self.schemas

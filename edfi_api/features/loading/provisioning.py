"""Creates, fills, copies and drops the databases of data stores, as the user of their connection strings.

The functions raise Django's DatabaseError. A new school year takes over the resources whose documents belong neither to
a time nor to a person: organizations and what they have (locations, courses, class periods, programs, graduation
plans), and people without their associations. Every step of that can be repeated.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from psycopg import errors

from edfi_api.common.conf import api_settings
from edfi_api.common.one_process import PREPARING, exclusively, wait_for_lock
from edfi_api.core.data_stores.databases import add_on_same_server, alias_of, remove
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.data_stores.provisioning_state import (
    OF_DEVELOPMENT,
    is_of_development,
    needed_migrations,
    pending_migrations,
)
from edfi_api.core.data_stores.routing import RoutingTable
from edfi_api.core.data_stores.stores import identity, set_state
from edfi_api.core.models import Document
from edfi_api.core.served import current_surface
from edfi_api.core.storage.driver.sql import statements_of
from edfi_api.features.loading.json_lines.exporting import export_documents, write_to_folder
from edfi_api.features.loading.json_lines.loading import load_documents
from edfi_api.features.loading.json_lines.sources import sources
from edfi_api.features.loading.mapping import Translator
from edfi_api.features.loading.reports.results import LoadResult, RefusalHandler
from edfi_api.model.metaed.core_names import CONTACT, STAFF, STUDENT
from edfi_api.model.surface.load_order import targets_of
from edfi_api.model.surface.resource import Resource, ResourceKind, ResourceName, Surface

_RESET_COPIED_STATE = statements_of(__file__)("reset_copied_state")
_PEOPLE = STUDENT | STAFF | CONTACT

# Autovacuum workers have no role. Who may not drop a database does not end the sessions in it.
_END_SESSIONS = """
SELECT pg_terminate_backend(pid)
  FROM pg_stat_activity JOIN pg_database USING (datname)
 WHERE datname = %s AND usesysid IS NOT NULL AND pg_has_role(datdba, 'USAGE')
"""
_COMMENT = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"


def create_database(using: str) -> bool:
    """Create the empty database that the alias leads to; False if it exists."""
    return _create(using, "template0")


def create_from_template(
    using: str, fill: Callable[[str], None], *, variant: str = "", load: Callable[[str], None] | None = None
) -> bool:
    """Create the database that the alias leads to as a copy of one that `fill` has filled; False if it exists.

    The copied one is made once on each server for this version, standard and extensions, and accepts no connections. A
    variant of it is a copy of it with what `load` adds.
    """
    connection = connections[using]
    template = f"meadowlark_template_{_fingerprint()}"
    with connection._nodb_cursor() as cursor:
        # Ends with this connection; others that need the same template wait until it is complete.
        cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING])
        if not _exists(cursor, template):
            _make_template(using, cursor, "template0", template, fill)
        if load is not None:
            base, template = template, f"{template}_{variant}"
            if not _exists(cursor, template):
                _make_template(using, cursor, base, template, load)
    return _create(using, template)


def copy_database(source: str, using: str, mark: str, finish: Callable[[str], None]) -> bool:
    """Create the database that the alias leads to as a copy of that of `source`, on the same server, which must
    have no connections. It gets its name, and `mark` as a comment, when `finish` has been called with its alias.

    False if it exists already without this mark.
    """
    connections[source].close()
    connection = connections[using]
    name = connection.settings_dict["NAME"]
    with connection._nodb_cursor() as cursor:
        if _exists(cursor, name):
            cursor.execute(_COMMENT, [name])
            return bool(cursor.fetchone() == (mark,))
        with _build_copy(using, cursor, name, connections.settings[source]["NAME"]) as alias:
            finish(alias)
            cursor.execute(f"COMMENT ON DATABASE {_quoted(alias)} IS %s", [mark])
    return True


def drop_database(using: str) -> None:
    """Drop the database that the alias leads to, if it exists, and end the sessions in it."""
    connection = connections[using]
    connection.close()
    with connection._nodb_cursor() as cursor:
        _drop(cursor, connection.settings_dict["NAME"])


def is_on_the_same_server(one: str, other: str) -> bool:
    """Return whether both connection strings have the same hosts and ports."""
    first, second = (connections.settings[using] for using in (one, other))
    return (first["HOST"], first["PORT"]) == (second["HOST"], second["PORT"])


def is_the_same(one: str, other: str) -> bool:
    """Return whether both lead to one database. A server may be reached at several hosts, so databases of one name are
    compared; one that does not answer counts as another."""
    if connections.settings[one]["NAME"] != connections.settings[other]["NAME"]:
        return False
    if is_on_the_same_server(one, other):
        return True
    try:
        return identity(one) == identity(other)
    except (DatabaseError, InterfaceError):
        return False


def other_user(using: str, table: RoutingTable) -> str:
    """Return what else the database is: "the admin database", "also that of data store 7"; "" if nothing."""
    if is_the_same(DEFAULT_DB_ALIAS, using):
        return "the admin database"
    for other in table.databases:
        try:
            if other.alias != using and is_the_same(alias_of(other), using):
                return f"also that of data store {other.data_store}"
        except ConnectionUnusable:
            continue
    return ""


def _make_template(using: str, cursor: Any, source: str, template: str, fill: Callable[[str], None]) -> None:
    with _build_copy(using, cursor, template, source) as alias:
        fill(alias)
        connections[alias].close()
        cursor.execute(f"ALTER DATABASE {_quoted(alias)} WITH ALLOW_CONNECTIONS false")


@contextmanager
def _build_copy(using: str, cursor: Any, name: str, template: str) -> Iterator[str]:
    """Build a copy of `template` and yield its alias. It gets its name at the end: so it is complete if it exists."""
    quote = connections[using].ops.quote_name
    building = f"{name[-50:]}_unfinished"  # PostgreSQL cuts names at 63 bytes.
    _drop(cursor, building)
    cursor.execute(f"CREATE DATABASE {quote(building)} ENCODING 'UTF8' TEMPLATE {quote(template)}")
    alias = add_on_same_server(using, building)
    try:
        yield alias
    except BaseException:
        connections[alias].close()
        _drop(cursor, building)
        raise
    finally:
        # It stays with the thread: a server puts it back into its pool.
        connections[alias].close()
        remove(alias)
    cursor.execute(f"ALTER DATABASE {quote(building)} RENAME TO {quote(name)}")


def _drop(cursor: Any, name: str) -> None:
    """Drop the database of this name, if it exists, and end the sessions in it.

    FORCE is refused to an owner who is no superuser while an autovacuum worker is in the database. Without it, DROP
    DATABASE ends workers, and waits 5 s for sessions; if one has begun before, it is the turn of FORCE again.
    """
    drop = f"DROP DATABASE IF EXISTS {cursor.db.ops.quote_name(name)}"
    force = f"{drop} WITH (FORCE)"
    for _ in range(2):
        if _is_done(cursor, force, errors.InsufficientPrivilege):
            return
        cursor.execute(_END_SESSIONS, [name])
        if _is_done(cursor, drop, errors.ObjectInUse):
            return
    cursor.execute(force)


def _is_done(cursor: Any, statement: str, refusal: type[Exception]) -> bool:
    """False if the statement is refused for this reason."""
    try:
        cursor.execute(statement)
    except DatabaseError as error:
        if not isinstance(error.__cause__, refusal):
            raise
        return False
    return True


def _create(using: str, template: str) -> bool:
    connection = connections[using]
    with connection._nodb_cursor() as cursor:
        if _exists(cursor, connection.settings_dict["NAME"]):
            return False
        name = connection.ops.quote_name(template)
        cursor.execute(f"CREATE DATABASE {_quoted(using)} ENCODING 'UTF8' TEMPLATE {name}")
    return True


def _quoted(using: str) -> str:
    connection = connections[using]
    return connection.ops.quote_name(connection.settings_dict["NAME"])


def _exists(cursor: Any, name: str) -> bool:
    cursor.execute("SELECT FROM pg_database WHERE datname = %s", [name])
    return cursor.fetchone() is not None


def _fingerprint() -> str:
    """Return a fingerprint of what `fill` writes: migrations, which never change, and the files of the standard and the
    extensions.
    """
    digest = sha256(repr(sorted(needed_migrations())).encode())
    for source in api_settings.model_sources:
        for file in [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file()):
            digest.update(f"\0{_relative(file, source)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _relative(file: Path, source: Path) -> str:
    return file.name if file == source else str(file.relative_to(source))


def provision(store: DataStore, using: str) -> None:
    """Fill the database; then the data store is online, if it was being prepared."""
    fill(using)
    put_online(store)


def fill(using: str) -> None:
    """Make tables, descriptors, school years and statistics."""
    migrate(using)
    with exclusively(PREPARING, using, wait_for_lock):
        load_common_documents(using)
    with connections[using].cursor() as cursor:
        cursor.execute("ANALYZE")


def put_online(store: DataStore) -> None:
    """Put a data store online if it was being prepared."""
    if store.state == State.PREPARING:
        set_state(store, State.ONLINE)


def migrate(using: str) -> int:
    """Apply all migrations; how many were pending. Concurrent calls wait for each other. Raises CommandError for a
    database of a development version."""
    if is_of_development(using):
        raise CommandError(OF_DEVELOPMENT)
    pending = len(pending_migrations(using))
    if pending:
        with exclusively(PREPARING, using, wait_for_lock):
            call_command("migrate", database=using, verbosity=0, interactive=False, skip_checks=True)
        connections[using].close()
    return pending


def load_common_documents(using: str) -> None:
    """Descriptors and school years, which every database with documents has; messages go to standard error."""
    into = {"database": using, "is_chosen": True, "stdout": sys.stderr}
    call_command("load_descriptors", **into)
    if not _has_school_years(using):
        call_command("load_school_years", "1990-2040", "--current", "2026", **into)


def _has_school_years(using: str) -> bool:
    """Return whether the database has school years. If so, an administrator may have changed the current school year,
    which a restart must not undo.
    """
    resources = current_surface().resources
    names = [resource.name.resource for resource in resources if resource.kind is ResourceKind.SCHOOL_YEAR]
    return Document.objects.using(using).filter(resource_type__name__in=names).exists()


def reason(error: DatabaseError) -> str:
    """PostgreSQL's message on one line, which has the name of the database and its user, but no password."""
    return " ".join(str(error).split())


def copy_documents(
    surface: Surface,
    resources: Sequence[Resource],
    source: str,
    using: str,
    on_refusal: RefusalHandler,
    *,
    mapping: Translator | None = None,
) -> LoadResult:
    """Export a consistent snapshot of the documents and load it. `on_refusal` is called with each document that refers
    to one of a resource that is not copied. With a mapping, the resources are those of its first standard."""
    with TemporaryDirectory(prefix="meadowlark-clone-") as folder:
        with write_to_folder(Path(folder), resources) as write:
            exported = export_documents(resources, write, source)
        if not exported.total():
            return LoadResult()
        files = sources(surface if mapping is None else mapping.before, [folder])
        return load_documents(surface, files, on_refusal, api_settings.MAX_BODY_BYTES, using=using, mapping=mapping)


def reset_copied_state(using: str) -> None:
    """Clear what a copy of a database must not share with the original, and continue its change versions far after
    those of the original."""
    with connections[using].cursor() as cursor:
        cursor.execute(_RESET_COPIED_STATE.text)


def of_every_year(surface: Surface) -> list[Resource]:
    """Return the resources in load order, descriptors included; school years are made with the database."""
    years = {resource.name for resource in surface.resources if resource.kind is ResourceKind.SCHOOL_YEAR}
    people = {resource.name for resource in surface.resources if resource.name.resource in _PEOPLE}
    left_out = years | {
        resource.name
        for resource in surface.resources
        if _refers_to_its_year_or_a_person(resource, years, people)
        or (_has_a_date(resource) and resource.name not in people)
    }
    required = targets_of(surface.by_name, surface.abstract_resources, only_required=True)
    required = {name: targets - years for name, targets in required.items()}
    # What needs a document that is left out is left out too.
    while more := {name for name, targets in required.items() if name not in left_out and targets & left_out}:
        left_out |= more
    return [resource for resource in surface.resources if resource.name not in left_out]


def _refers_to_its_year_or_a_person(resource: Resource, years: set[ResourceName], people: set[ResourceName]) -> bool:
    return any(
        reference.target in people or (reference.target in years and not _has_role(reference.path.steps[-1], years))
        for reference in resource.references
        if reference.is_required
    )


def _has_role(member: str, years: set[ResourceName]) -> bool:
    """A year in a role, as the graduation year of a plan, is a value, and not the year of the document."""
    return not any(member.lower() == f"{year.resource}reference".lower() for year in years)


def _has_a_date(resource: Resource) -> bool:
    required = set(resource.json_schema.get("required", ()))
    dates = (*resource.value_paths.dates, *resource.value_paths.date_times)
    return any(len(path.steps) == 1 and path.steps[0] in required for path in dates)

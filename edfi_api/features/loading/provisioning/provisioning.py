"""Makes a database into that of a data store: tables, descriptors, school years. Every step can be repeated."""

import sys

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connections

from edfi_api.common.one_process import PREPARING, exclusively, wait_for_lock
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.data_stores.provisioning_state import OF_DEVELOPMENT, is_of_development, pending_migrations
from edfi_api.core.data_stores.stores import set_state
from edfi_api.core.models import Document
from edfi_api.core.served import current_surface
from edfi_api.model.surface.resource import ResourceKind


def provision(store: DataStore, using: str) -> None:
    """Fill the database; then the data store is online, if it was being prepared."""
    fill(using)
    put_online(store)


def fill(using: str) -> None:
    """Tables, descriptors, school years and statistics."""
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
    """Whether the database has school years. If so, an administrator may have changed the current school year, which a
    restart must not undo.
    """
    resources = current_surface().resources
    names = [resource.name.resource for resource in resources if resource.kind is ResourceKind.SCHOOL_YEAR]
    return Document.objects.using(using).filter(resource_type__name__in=names).exists()


def reason(error: DatabaseError) -> str:
    """PostgreSQL's message on one line, which has the name of the database and its user, but no password."""
    return " ".join(str(error).split())

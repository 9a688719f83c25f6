"""What the database of a data store answers about itself, for operators."""

from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.storage.database_state import known_database_state

from .breaker import Breaker
from .databases import alias_of
from .exceptions import ConnectionUnusable
from .provisioning_state import pending_migrations
from .routing import Database

_SIZE = "SELECT pg_database_size(current_database())"


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """`size` is in bytes. Of a database that does not answer, `reason` says why, and there is nothing else."""

    pending_migrations: int | None = None
    size: int | None = None
    reason: str | None = None

    @property
    def answers(self) -> bool:
        return self.reason is None


def status_of(database: Database) -> StoreStatus:
    """Connects to the database, which takes 2 seconds at most, and closes the connection."""
    try:
        using = alias_of(database)
    except ConnectionUnusable as error:
        return StoreStatus(reason=f"its connection string cannot be used: {error.reason}")
    try:
        pending = len(pending_migrations(using))
        with connections[using].cursor() as cursor:
            cursor.execute(_SIZE)
            [(size,)] = cursor.fetchall()
    except (DatabaseError, InterfaceError) as error:
        return StoreStatus(reason=" ".join(str(error).split()))
    finally:
        if using != DEFAULT_DB_ALIAS:
            connections[using].close()
    return StoreStatus(pending, size)


def is_refused(database: Database) -> bool:
    """Whether this process refuses requests for the database without connecting, because it did not answer."""
    kept = known_database_state(database.alias)
    breaker = kept.kept(Breaker) if kept else None
    return breaker is not None and breaker.is_open

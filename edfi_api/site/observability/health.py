"""Health checks, in the format of Ed-Fi's servers."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from django.db import DatabaseError, InterfaceError, connections
from django.db.migrations.executor import MigrationExecutor

from edfi_api.core.data_stores import provisioning_state
from edfi_api.core.data_stores.access import Breaker
from edfi_api.core.data_stores.routing import Store
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.storage.database_state import known_database_state


class Status(StrEnum):
    """The values that Ed-Fi's servers use."""

    HEALTHY = "Healthy"
    UNHEALTHY = "Unhealthy"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    status: Status
    description: str


def readiness(using: str = "default") -> list[CheckResult]:
    """The results of all checks; if the database does not answer, checks that need it are skipped."""
    database = _checked("Database", _database, using)
    if database.status is Status.UNHEALTHY:
        return [database]
    return [database, _checked("Migrations", _migrations, using)]


def data_stores() -> list[CheckResult]:
    """Return how many data stores answer, as this process has seen last; no result if there are none. Connects to none:
    that one of thousands is down must not delay the answer, nor take the server out of service."""
    stores = routing_cache().table().stores.values()
    if not stores:
        return []
    down = sum(_is_down(store) for store in stores)
    status = Status.UNHEALTHY if down == len(stores) else Status.HEALTHY
    return [CheckResult("Data Stores", status, f"{len(stores) - down} of {len(stores)} data stores answer.")]


def _is_down(store: Store) -> bool:
    known = known_database_state(store.primary.alias)
    breaker = known.kept(Breaker) if known else None
    return breaker is not None and breaker.is_open


def is_healthy(results: list[CheckResult]) -> bool:
    return all(result.status is Status.HEALTHY for result in results)


def health_document(results: list[CheckResult]) -> dict[str, object]:
    """The body of the answer to a health request."""
    return {
        "Status": Status.HEALTHY if is_healthy(results) else Status.UNHEALTHY,
        "Results": [
            {"Name": result.name, "Status": result.status, "Description": result.description} for result in results
        ],
    }


class _Unhealthy(Exception):
    """A check failed; the message is the description of its result."""


def _checked(name: str, check: Callable[[str], str], using: str) -> CheckResult:
    try:
        return CheckResult(name, Status.HEALTHY, check(using))
    except _Unhealthy as reason:
        return CheckResult(name, Status.UNHEALTHY, str(reason))


def _database(using: str) -> str:
    """The endpoint needs no token, so it does not repeat the database's error message."""
    try:
        with connections[using].cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        raise _Unhealthy("The database does not answer.") from None
    return "The database answers."


def _migrations(using: str) -> str:
    """Migrations of a newer version are accepted, unless they take away what this version uses: during an upgrade,
    servers of both versions run concurrently."""
    executor = MigrationExecutor(connections[using])
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if pending:
        raise _Unhealthy(f"{len(pending)} migrations have to be applied: manage.py migrate.")
    if provisioning_state.changed(using):
        raise _Unhealthy(
            "Migrations with another text than this version's were applied: manage.py check --database default."
        )
    if provisioning_state.contracted(using):
        raise _Unhealthy("A newer version has taken away what this version uses: run the newer one.")
    return "All migrations are applied."

"""Requests that no data store answers: none is the client's, none has the context of the address, or it cannot be used;
and failures that the client did not cause: 500 and 503."""

from dataclasses import replace

from django.db import InterfaceError, InternalError, OperationalError

from edfi_api.common.memory import MemoryExhausted
from edfi_api.core.data_stores import exceptions as data_stores
from edfi_api.core.storage.driver import execution as driver
from edfi_api.core.storage.exceptions import NotChecked
from edfi_api.web.problem_details.catalog.registry import hinted, problem_of
from edfi_api.web.problem_details.hints import request_hints
from edfi_api.web.problem_details.problem import Problem


@problem_of.register(driver.TooMuchContention)
@problem_of.register(OperationalError)
@problem_of.register(InterfaceError)
@problem_of.register(MemoryExhausted)
def too_much_contention(error: Exception) -> Problem:
    return _UNAVAILABLE


@problem_of.register
def internal_error(error: InternalError) -> Problem | None:
    return _UNAVAILABLE if driver.is_outage(error) else None


@problem_of.register
def not_checked(error: NotChecked) -> Problem:
    problem = unavailable(retry_after=5, rule=error.rule)
    return replace(problem, errors=[f"The rule '{error.rule}' could not check the document."])


def unavailable(retry_after: int, **log_facts: str) -> Problem:
    """Worth a retry after so many seconds."""
    return Problem(
        status=503,
        type="service-unavailable",
        title="Service Unavailable",
        detail="The service is temporarily unable to handle the request. Retry the request later.",
        headers={"Retry-After": str(retry_after)},
        log_facts=log_facts,
    )


_UNAVAILABLE = unavailable(retry_after=5)


@problem_of.register
def tenant_missing(error: data_stores.TenantMissing) -> Problem:
    return _bad_tenant(
        "The tenant identifier is required when multi-tenancy is enabled. "
        "Include the tenant as the first segment of the URL path.",
        "Missing tenant identifier in URL path.",
    )


@problem_of.register
def tenant_malformed(error: data_stores.TenantMalformed) -> Problem:
    return _bad_tenant(
        "The tenant identifier has an invalid format.",
        "Tenant identifier must contain only alphanumeric characters, hyphens, and underscores.",
    )


@problem_of.register
def tenant_too_long(error: data_stores.TenantTooLong) -> Problem:
    return _bad_tenant(
        "The tenant identifier has an invalid format.", "Tenant identifier exceeds maximum length of 256 characters."
    )


@problem_of.register
def tenant_unknown(error: data_stores.TenantUnknown) -> Problem:
    return Problem(
        status=404,
        type="not-found",
        title="Not Found",
        detail="The specified resource could not be found.",
        is_short=True,
    )


@problem_of.register
def no_data_stores(error: data_stores.NoDataStores) -> Problem:
    return _refusal(
        403,
        "authorization-denied",
        "Authorization Denied",
        "No database instances are authorized for this client",
    )


@problem_of.register
def data_store_not_found(error: data_stores.DataStoreNotFound) -> Problem:
    """Return a problem that is the same for contexts that exist, that do not, and that belong to other clients."""
    return _route(404, "No database instance found matching the request route qualifiers")


@problem_of.register
def ambiguous_data_store(error: data_stores.AmbiguousDataStore) -> Problem:
    return _route(
        400, "Multiple database instances match the request route qualifiers - ambiguous routing not supported"
    )


@problem_of.register
def connection_unusable(error: data_stores.ConnectionUnusable) -> Problem:
    return _refusal(
        503,
        "service-configuration-error",
        "Service Configuration Error",
        "Database connection not configured for the matched instance",
    )


@problem_of.register
def not_provisioned(error: data_stores.NotProvisioned) -> Problem:
    return _refusal(
        503,
        "database-not-provisioned",
        "Database Not Provisioned",
        "The database of the matched instance is not provisioned",
    )


@problem_of.register
def data_store_unavailable(error: data_stores.DataStoreUnavailable) -> Problem:
    return unavailable(error.retry_after, refused=error.reason)


@problem_of.register
def data_store_read_only(error: data_stores.DataStoreReadOnly) -> Problem:
    return Problem(
        status=405,
        type="method-not-allowed",
        title="Method Not Allowed",
        detail="The request construction was invalid.",
        errors=["The data store is read-only."],
        headers={"Allow": "GET"},
    )


@problem_of.register
@hinted(request_hints.no_snapshot)
def snapshot_not_found(error: data_stores.SnapshotNotFound) -> Problem:
    return _route(404, "No snapshot is configured for the matched instance.")


@problem_of.register
@hinted(request_hints.no_snapshot)
def no_snapshots(error: data_stores.NoSnapshots) -> Problem:
    """Return what the ODS answers, whose clients know these texts."""
    return Problem(
        status=404,
        type="not-found",
        title="Not Found",
        detail="Snapshot not found.",
        errors=["The snapshot connection for the ODS has not been configured."],
    )


@problem_of.register
@hinted(request_hints.snapshot_read_only)
def snapshot_read_only(error: data_stores.SnapshotReadOnly) -> Problem:
    return Problem(
        status=405,
        type="snapshots:method-not-allowed",
        title="Method Not Allowed with Snapshots",
        detail="An attempt was made to modify data in a Snapshot, but this data is read-only.",
        headers={"Allow": "GET"},
    )


def _bad_tenant(detail: str, error: str) -> Problem:
    return Problem(status=400, type="bad-request", title="Bad Request", detail=detail, errors=[error])


def _route(status: int, detail: str) -> Problem:
    return _refusal(status, "route-resolution-error", "Route Resolution Error", detail)


def _refusal(status: int, type_: str, title: str, detail: str) -> Problem:
    return Problem(status=status, type=type_, title=title, detail=detail, errors=[detail])

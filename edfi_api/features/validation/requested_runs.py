"""Runs that API clients request: stored here, and run by `run_validation --requested`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import connections

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import TooManyRequests
from edfi_api.features.validation.running import RunOptions

_SECONDS_BETWEEN = 3600
_SOON = 60
# The unique index leaves out a second open request, also of two at the same time.
_REQUEST = """
INSERT INTO validation_request (client, requested_by, rules, categories, organizations)
SELECT %(client)s, %(by)s, %(rules)s, %(categories)s, %(organizations)s::bigint[]
 WHERE NOT EXISTS (
     SELECT FROM validation_request
      WHERE client = %(client)s AND requested_at > now() - make_interval(secs => %(seconds)s)
 )
ON CONFLICT (client) WHERE ended_at IS NULL DO NOTHING
RETURNING run_uuid
"""
_WAIT = """
SELECT %(seconds)s - extract(epoch FROM now() - max(requested_at)) FROM validation_request WHERE client = %(client)s
"""
_NEXT = """
SELECT id, run_uuid, requested_by, rules, categories, organizations FROM validation_request
 WHERE ended_at IS NULL ORDER BY id LIMIT 1
"""
_ACTIVE = "SELECT identifier, category FROM validation_rule WHERE retired_at IS NULL AND is_on"
_END = "UPDATE validation_request SET ended_at = now() WHERE id = %s"


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """A run that a client requested: rules by identifier, categories; the run will have the id `run`."""

    number: int
    run: UUID
    by: str
    rules: Sequence[str]
    categories: Sequence[str]
    organizations: Sequence[int]

    def with_options_of(self, options: RunOptions) -> RunOptions:
        """The requested run; the values of parameters, the jobs and the replica are those of the other one."""
        return replace(
            options,
            rules=frozenset(self.rules),
            categories=frozenset(self.categories),
            organizations=tuple(self.organizations),
            is_full=False,
            by=self.by,
            run=self.run,
            retires_others=False,
        )


def request_run(client: AuthenticatedClient, rules: Sequence[str], categories: Sequence[str], using: str) -> UUID:
    """Request a run and return the id that it will have; it is one over the client's organizations. Raises
    TooManyRequests: a client has one open request, and one an hour."""
    given: dict[str, Any] = {
        "client": client.row_id,
        "by": f"client {client.key}",
        "rules": sorted(set(rules)),
        "categories": sorted(set(categories)),
        "organizations": list(client.education_organization_ids),
        "seconds": _SECONDS_BETWEEN,
    }
    with connections[using].cursor() as cursor:
        made = cursor.execute(_REQUEST, given).fetchone()
        if made is None:
            [seconds] = cursor.execute(_WAIT, given).fetchone()
            raise TooManyRequests(max(_SOON, int(seconds or 0)))
    run: UUID = made[0]
    return run


def active_rules(using: str) -> list[tuple[str, str]]:
    """Identifier and category of the rules that a run can have; those of the last run."""
    with connections[using].cursor() as cursor:
        return list(cursor.execute(_ACTIVE))


def next_request(using: str) -> RequestedRun | None:
    """The oldest open request."""
    with connections[using].cursor() as cursor:
        row = cursor.execute(_NEXT).fetchone()
    return RequestedRun(*row) if row else None


def end_request(requested: RequestedRun, using: str) -> None:
    """End the request: it is not open any more."""
    with connections[using].cursor() as cursor:
        cursor.execute(_END, [requested.number])

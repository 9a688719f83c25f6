"""Finding and storing connections, and reporting their state."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    IntegrityError,
    InterfaceError,
    connection,
    connections,
    transaction,
)
from psycopg import errors as postgres

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.audit import attribute_to
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.routing_cache import primary_of
from edfi_api.features.exchange.models import NAME_TAKEN, Connection, ConnectionState, ExchangeDirection, Phase

_LONGEST_FAILURE = 1000

_REPORT = """
INSERT INTO exchange_state AS s
       (connection_id, phase, since, reported_at, failure, position, newest, caught_up_at, accepted, refused, rate)
VALUES (%(connection)s, %(phase)s, now(), now(), %(failure)s, %(position)s::bigint, %(newest)s::bigint,
        CASE WHEN %(is_caught_up)s THEN now() END, %(accepted)s, %(refused)s, %(rate)s::float8)
ON CONFLICT (connection_id) DO UPDATE
   SET phase = EXCLUDED.phase, since = CASE WHEN s.phase = EXCLUDED.phase THEN s.since ELSE EXCLUDED.since END,
       reported_at = EXCLUDED.reported_at, failure = EXCLUDED.failure,
       position = coalesce(EXCLUDED.position, s.position), newest = coalesce(EXCLUDED.newest, s.newest),
       caught_up_at = coalesce(EXCLUDED.caught_up_at, s.caught_up_at), accepted = s.accepted + EXCLUDED.accepted,
       refused = s.refused + EXCLUDED.refused, rate = coalesce(EXCLUDED.rate, s.rate)
"""

# Whether a process holds the lock of a connection: it pulls, or it pushes, as a consumer of the change stream.
_IS_AT_WORK = """
SELECT EXISTS (
    SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
     WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
       AND (l.classid::bigint, l.objid::bigint) IN (
            (hashtext('exchange')::bigint & 4294967295, %(connection)s),
            (change_version_lock(), hashtext(%(consumer)s)::bigint & 4294967295)))
"""
# The refusals by the constraint of the database.
_REFUSALS = {
    "connection_once_in_any_case": {"name": NAME_TAKEN},
    "connection_of_one_tenant": {"data_store": "It belongs to another tenant than the API client."},
}


class NoSuchConnection(Exception):
    """There is none of this name, or of this direction. The message says which there are."""


def connection_named(name: str, direction: ExchangeDirection | None = None) -> Connection:
    """The connection of a name, in any case. Raises NoSuchConnection."""
    found = Connection.objects.select_related("api_client", "data_store").filter(name__iexact=name).first()
    if found is None:
        there_are = ", ".join(Connection.objects.values_list("name", flat=True)[:20]) or "none"
        raise NoSuchConnection(f'There is no connection "{name}"; there are: {there_are}.')
    if direction is not None and found.direction != direction:
        raise NoSuchConnection(f'The connection "{found}" is for {found.direction}, not for {direction}.')
    return found


def store_connection(connection: Connection, secret: str | None, by: str) -> None:
    """Store a new or changed connection; `secret` is None to keep the stored one. `by` names who does it.

    Raises ValidationError with all problems, also for a name that is taken, and NoStoreKey.
    """
    is_new = connection.pk is None
    if secret is not None:
        connection.set_secret(secret)
    elif is_new:
        raise ValidationError({"secret": "A connection needs one."})
    check(connection)
    try:
        with transaction.atomic():
            attribute_to(by)
            connection.save()
    except IntegrityError as error:
        raise ValidationError(_REFUSALS[_constraint(error)]) from error
    audit.log_change("connection created" if is_new else "connection changed", **connection.audit_facts, by=by)


def check(connection: Connection) -> None:
    """Check a connection. Raises ValidationError with all problems, but those that only the database finds."""
    connection.full_clean(validate_constraints=False)


def database_of(connection: Connection) -> str:
    """The alias of the database with its documents. Raises ConnectionUnusable."""
    if connection.data_store is not None:
        return alias_of(primary_of(connection.data_store))
    if not api_settings.has_main_store:
        raise ConnectionUnusable("all documents are in data stores, and the connection names none")
    return DEFAULT_DB_ALIAS


def consumer_of(connection: Connection) -> str:
    """The name under which the change stream keeps the position of a push. Another may get this one's name."""
    return f"push {connection.pk}"


def current_phase(found: Connection, state: ConnectionState | None) -> str:
    """Return what a connection does: as its process has reported, unless there is none any more."""
    if state is None:
        return Phase.IDLE
    if state.phase not in (Phase.RUNNING, Phase.WAITING):
        return state.phase
    try:
        with connections[database_of(found)].cursor() as cursor:
            cursor.execute(_IS_AT_WORK, {"connection": found.pk, "consumer": consumer_of(found)})
            return state.phase if cursor.fetchone()[0] else Phase.IDLE
    except (ConnectionUnusable, DatabaseError, InterfaceError):
        return state.phase


def report(reported: Connection, phase: Phase, **values: Any) -> None:
    """Store what a connection does, for its page in the admin: `failure`, `position`, `newest`, `rate`, and how many
    documents have been `accepted` and `refused` since the last report."""
    position, newest = values.get("position"), values.get("newest")
    row = {
        "connection": reported.pk,
        "phase": phase,
        "failure": values.get("failure", "")[:_LONGEST_FAILURE],
        "position": position,
        "newest": newest,
        "is_caught_up": position is not None and newest is not None and position >= newest,
        "accepted": values.get("accepted", 0),
        "refused": values.get("refused", 0),
        "rate": values.get("rate"),
    }
    with connection.cursor() as cursor:
        cursor.execute(_REPORT, row)


@transaction.atomic
def encrypt_secrets_again() -> str:
    """Encrypt the secrets of all connections with the first of the keys, and say how many they are. Raises
    ConnectionUnusable if no key decrypts one."""
    number = 0
    for row in Connection.objects.select_for_update().order_by("pk"):
        row.set_secret(row.plain_secret())
        row.save(update_fields=["secret"])
        number += 1
    return f"{counted(number, 'secret')} of connections" if number else ""


def _constraint(error: IntegrityError) -> str:
    cause = error.__cause__
    name = cause.diag.constraint_name if isinstance(cause, postgres.IntegrityError) else None
    if name not in _REFUSALS:
        raise error
    return str(name)

"""Making and changing tenants and data stores, for commands, the admin and management.

Every function that writes raises Django's `ValidationError` with all problems by field.

Tenants are customers of the operator, each with vendors, claim sets, profiles and data stores that no other reaches.
Claim sets and profiles without a tenant are shared by all; vendors and data stores without one belong to a server
without tenants. The tenant of a row never changes. Two tenants led to one database would see each other's documents: it
is refused where a connection string is entered.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connection, connections, transaction
from django.db.models import Model, Q, QuerySet

from edfi_api.common.addresses import first_segments
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import is_printable
from edfi_api.core.data_stores.connection_strings import LONGEST, MAIN, decrypt, destination, encrypt, servers
from edfi_api.core.data_stores.databases import allowed_destination
from edfi_api.core.data_stores.exceptions import (
    ConnectionNotAllowed,
    ConnectionUnusable,
    TenantMalformed,
    TenantTooLong,
)
from edfi_api.core.data_stores.models import (
    LONGEST_NAME,
    TENANT_NAME,
    DataStore,
    DataStoreContext,
    DataStoreDerivative,
    DerivativeType,
    State,
    Tenant,
)
from edfi_api.core.data_stores.routing import FIXED, OPTIONAL, OUTSIDE, Store
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.storage.database_state import database_state

COMMAND = "command"
_VERSION_SEGMENT = re.compile(r"v\d[\w.]*", re.ASCII | re.IGNORECASE)

# Names of hosts differ for one server; its identifier and the number of the database do not.
_IDENTITY = """
SELECT system_identifier::text || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
  FROM pg_control_system()
"""
# The name of a database, and a server that may have it.
_Place = tuple[str, tuple[str, str]]


@transaction.atomic
def create_data_store(
    name: str,
    *,
    type: str = "",
    context: Mapping[str, str] | None = None,
    connection: str | None = None,
    state: State = State.PREPARING,
    tenant: Tenant | None = None,
    by: str = COMMAND,
) -> DataStore:
    """Store a new data store. Raises NoStoreKey if its connection string cannot be encrypted."""
    encrypted = encrypted_connection(connection, None if tenant is None else tenant.pk)
    store = DataStore(name=name, type=type, state=state, tenant=tenant, connection=encrypted)
    store.full_clean()
    contexts = [_context(key, value) for key, value in (context or {}).items()]
    store.save(force_insert=True)
    for each in contexts:
        each.data_store = store
        each.save(force_insert=True)
    audit.log_change("data store created", data_store=store.pk, data_store_name=name, by=by)
    return store


@transaction.atomic
def set_connection(store: DataStore, connection: str | None, *, by: str = COMMAND) -> None:
    """Let the data store lead to another database; requests use it within `STORE_SECONDS`."""
    store.connection = encrypted_connection(connection, store.tenant_id)
    store.save(update_fields=["connection"])
    store.refresh_from_db(fields=["revision"])
    audit.log_change("connection of data store changed", data_store=store.pk, data_store_name=store.name, by=by)


@transaction.atomic
def set_state(store: DataStore, state: State, *, by: str = COMMAND) -> None:
    """Change what the data store can be used for; noticed within `STORE_SECONDS`."""
    store.state = state
    store.save(update_fields=["state"])
    audit.log_change("state of data store changed", data_store=store.pk, data_store_name=store.name, state=state, by=by)


@transaction.atomic
def add_derivative(
    store: DataStore, type: DerivativeType, connection: str, *, by: str = COMMAND
) -> DataStoreDerivative:
    """Store another database with the data of a data store."""
    encrypted = encrypted_connection(connection, store.tenant_id)
    derivative = DataStoreDerivative(data_store=store, type=type, connection=encrypted)
    derivative.full_clean()
    derivative.save(force_insert=True)
    audit.log_change("derivative created", data_store=store.pk, data_store_name=store.name, type=type, by=by)
    return derivative


@contextmanager
def unique_names() -> Iterator[None]:
    """Within a transaction, let the name of a data store be that of no other of its tenant, and a data store have one
    derivative of each type: others raise IntegrityError (edfi_api/core/data_stores/sql/unique_names.sql)."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL meadowlark.unique_names TO 'on'")
        yield
        cursor.execute("SET LOCAL meadowlark.unique_names TO 'off'")


@transaction.atomic
def remove_data_store(store: DataStore, *, by: str = COMMAND) -> None:
    """Remove the data store with its context, derivatives and assignments; its database stays."""
    audit.log_change("data store removed", data_store=store.pk, data_store_name=store.name, by=by)
    store.delete()


@transaction.atomic
def encrypt_again(*, by: str = COMMAND) -> int:
    """Encrypt all connection strings with the first of the keys; how many there are. All or none: raises
    ConnectionUnusable if no key decrypts one of them, and NoStoreKey."""
    number = 0
    for model in (DataStore, DataStoreDerivative):
        for row in model.objects.select_for_update().filter(connection__isnull=False).order_by("pk"):
            row.connection = encrypt(decrypt(row.connection or ""))
            row.save(update_fields=["connection"])
            number += 1
    audit.log_change("connection strings encrypted again", number=number, by=by)
    return number


def check_segment(value: str) -> str:
    """A context value or the name of a tenant, which is a segment of addresses. Raises ValidationError."""
    if is_reserved(value) or value in (".", ".."):
        raise ValidationError(f"'{value}' is reserved.")
    if not value.strip() or not is_printable(value) or "/" in value or "\\" in value:
        raise ValidationError("It is a segment of addresses: a text without '/', '\\' and control characters.")
    return value


def is_reserved(segment: str) -> bool:
    """Return whether addresses of the server begin with the segment, or may with other settings or a later version."""
    folded = segment.casefold()
    of_routes = first_segments(settings.ROOT_URLCONF)
    return folded in FIXED | OUTSIDE | OPTIONAL | of_routes or _VERSION_SEGMENT.fullmatch(segment) is not None


def check_qualifiers(names: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that no address has, in any case."""
    folded = {name.casefold() for name in known}
    if unknown := [name for name in names if name.casefold() not in folded]:
        raise ValidationError(f"MEADOWLARK_ROUTE_QUALIFIERS does not name: {', '.join(unknown)}.")


def _context(key: str, value: str) -> DataStoreContext:
    try:
        check_segment(value)
    except ValidationError as error:
        raise ValidationError({"ContextValue": error.messages}) from None
    context = DataStoreContext(key=key, value=value)
    context.full_clean(exclude={"data_store"})
    return context


def encrypted_connection(connection: str | None, tenant: int | None) -> str | None:
    """The text that is stored for a connection string of a data store with this tenant. One that cannot be read can be
    stored, as in Ed-Fi's servers, but not be used. Raises ValidationError if it is masked, leads to a host that is not
    allowed, or to the database of another tenant; and NoStoreKey."""
    if connection is None:
        return None
    if len(connection) > LONGEST:
        raise ValidationError({"ConnectionString": [f"It has more than {LONGEST} characters."]})
    try:
        if connection != MAIN:
            allowed_destination(connection)
        refuse_shared_database(connection, tenant)
    except ConnectionNotAllowed as error:
        raise ValidationError({"ConnectionString": [f"It cannot be used: {error.reason}."]}) from None
    except ConnectionUnusable:
        pass
    return encrypt(connection)


def identity(using: str) -> str:
    """Return an identity that is the same for all connection strings that lead to one database. Raises Django's
    DatabaseError.
    """
    with connections[using].cursor() as cursor:
        return str(cursor.execute(_IDENTITY).fetchone()[0])


def refuse_shared_database(connection: str, tenant: int | None) -> None:
    """Raise ConnectionNotAllowed if the connection string leads to the database of another tenant, by hosts, port and
    name; `check_data_stores` compares databases themselves. Raises other ConnectionUnusable too."""
    if tenant is None or api_settings.TENANTS_SHARE_DATABASES:
        return
    wanted = _places(connection)
    of_others = DataStore.objects.filter(tenant__isnull=False).exclude(tenant=tenant)
    derivatives = DataStoreDerivative.objects.filter(data_store__in=of_others)
    for encrypted in chain(_connections(of_others), _connections(derivatives)):
        try:
            places = _places(decrypt(encrypted))
        except ConnectionUnusable:
            continue
        if wanted & places:
            raise ConnectionNotAllowed("it leads to a database of another tenant")


def _connections(rows: QuerySet[Any]) -> list[str]:
    return list(rows.filter(connection__isnull=False).values_list("connection", flat=True))


def _places(connection: str) -> set[_Place]:
    if connection == MAIN:
        control = connections.settings[DEFAULT_DB_ALIAS]
        return {(control["NAME"], each) for each in servers(control["HOST"], str(control["PORT"]))}
    where = destination(connection)
    return {(where.database, each) for each in where.servers}


class _Use(NamedTuple):
    """The use of a database by a data store, under an alias."""

    alias: str
    store: int
    tenant: int


class SharedDatabases:
    """Says which data stores of tenants have led this process to which databases."""

    def __init__(self, _using: str) -> None:
        self._identities: dict[str, str] = {}
        self._uses: dict[str, set[_Use]] = {}

    def check(self, alias: str, store: Store) -> None:
        """Raise ConnectionUnusable if a data store of another tenant, which was made before, has led to the database
        that the alias leads to, and still does."""
        if store.tenant is None or api_settings.TENANTS_SHARE_DATABASES:
            return
        found = self._identities.get(alias) or self._identified(alias)
        uses = self._uses.setdefault(found, set())
        uses.add(_Use(alias, store.id, store.tenant.id))
        if all(use.tenant == store.tenant.id for use in set(uses)):
            return
        served = {database.alias for database in routing_cache().table().databases} | {DEFAULT_DB_ALIAS}
        oldest = min((use for use in set(uses) if use.alias in served), key=lambda use: use.store, default=None)
        if oldest is not None and oldest.tenant != store.tenant.id:
            raise ConnectionUnusable(
                f"it leads to the database of data store {oldest.store}, which is another tenant's"
            )

    def _identified(self, alias: str) -> str:
        try:
            return self._identities.setdefault(alias, identity(alias))
        except ProgrammingError:  # Its role may not ask.
            settings = connections.settings[alias]
            return self._identities.setdefault(alias, f"{settings['HOST']}:{settings['PORT']}/{settings['NAME']}")


def refuse_other_tenants_database(alias: str, store: Store) -> None:
    """Raise ConnectionUnusable if this process has met the database as that of another tenant."""
    database_state(DEFAULT_DB_ALIAS).value(SharedDatabases).check(alias, store)


def create_tenant(name: str, *, by: str = COMMAND) -> Tenant:
    """Store a new tenant. Raises Django's `ValidationError` with the problems of the name, under `name`."""
    tenant = Tenant(name=name)
    tenant.full_clean()
    try:
        check_segment(name)
    except ValidationError as error:
        raise ValidationError({"name": error.messages}) from None
    tenant.save(force_insert=True)
    audit.log_change("tenant created", tenant=name, by=by)
    return tenant


def check_tenant_segment(segment: str) -> Exception | None:
    """Return what keeps a segment of an address from being the name of a tenant: TenantTooLong or TenantMalformed."""
    if len(segment) > LONGEST_NAME:
        return TenantTooLong()
    return None if re.search(TENANT_NAME, segment) else TenantMalformed()


def tenant_named(name: str) -> Tenant | None:
    """The tenant with this name, in any case."""
    return Tenant.objects.filter(name__iexact=name).first()


def visible_to(tenant: Tenant | int | None) -> Q:
    """The claim sets or profiles that a tenant can use: its own and the shared ones; without a tenant the shared."""
    return Q(tenant=None) | Q(tenant=tenant)


def refuse_taken_name(row: Model, others: Q) -> None:
    """Raise ValidationError if another one of the rows `others` has the name of `row`. Constraints ensure it, too."""
    same_name = Q(name=row.name)  # type: ignore[attr-defined]
    taken = type(row)._default_manager.filter(others, same_name).exclude(pk=row.pk)
    if taken.exists():
        raise ValidationError({"name": row.unique_error_message(type(row), ("name",))})

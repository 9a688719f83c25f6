"""Making and changing data stores, for commands, the admin and management.

Every function raises Django's `ValidationError` with all problems by field.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection, transaction

from edfi_api.common.addresses import first_segments
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import is_printable
from edfi_api.core.data_stores.connection_strings import LONGEST, MAIN, decrypt, encrypt
from edfi_api.core.data_stores.databases import allowed_destination
from edfi_api.core.data_stores.exceptions import ConnectionNotAllowed, ConnectionUnusable
from edfi_api.core.data_stores.models import (
    DataStore,
    DataStoreContext,
    DataStoreDerivative,
    DerivativeType,
    State,
    Tenant,
)
from edfi_api.core.data_stores.routing import FIXED, OPTIONAL, OUTSIDE
from edfi_api.core.data_stores.sharing import refuse_shared_database

COMMAND = "command"
_VERSION_SEGMENT = re.compile(r"v\d[\w.]*", re.ASCII | re.IGNORECASE)


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
    audit.administered("data store created", data_store=store.pk, data_store_name=name, by=by)
    return store


@transaction.atomic
def set_connection(store: DataStore, connection: str | None, *, by: str = COMMAND) -> None:
    """Let the data store lead to another database; requests use it within `STORE_SECONDS`."""
    store.connection = encrypted_connection(connection, store.tenant_id)
    store.save(update_fields=["connection"])
    store.refresh_from_db(fields=["revision"])
    audit.administered("connection of data store changed", data_store=store.pk, data_store_name=store.name, by=by)


@transaction.atomic
def set_state(store: DataStore, state: State, *, by: str = COMMAND) -> None:
    """Change what the data store can be used for; noticed within `STORE_SECONDS`."""
    store.state = state
    store.save(update_fields=["state"])
    audit.administered(
        "state of data store changed", data_store=store.pk, data_store_name=store.name, state=state, by=by
    )


@transaction.atomic
def add_derivative(
    store: DataStore, type: DerivativeType, connection: str, *, by: str = COMMAND
) -> DataStoreDerivative:
    """Store another database with the data of a data store."""
    encrypted = encrypted_connection(connection, store.tenant_id)
    derivative = DataStoreDerivative(data_store=store, type=type, connection=encrypted)
    derivative.full_clean()
    derivative.save(force_insert=True)
    audit.administered("derivative created", data_store=store.pk, data_store_name=store.name, type=type, by=by)
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
    audit.administered("data store removed", data_store=store.pk, data_store_name=store.name, by=by)
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
    audit.administered("connection strings encrypted again", number=number, by=by)
    return number


def check_segment(value: str) -> str:
    """A context value or the name of a tenant, which is a segment of addresses. Raises ValidationError."""
    if is_reserved(value) or value in (".", ".."):
        raise ValidationError(f"'{value}' is reserved.")
    if not value.strip() or not is_printable(value) or "/" in value or "\\" in value:
        raise ValidationError("It is a segment of addresses: a text without '/', '\\' and control characters.")
    return value


def is_reserved(segment: str) -> bool:
    """Whether addresses of the server begin with the segment, or may with other settings or a later version."""
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
    """What is stored of a connection string of a data store with this tenant. One that cannot be read can be stored, as
    in Ed-Fi's servers, but not be used. Raises ValidationError if it is masked, leads to a host that is not allowed, or
    to the database of another tenant; and NoStoreKey."""
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

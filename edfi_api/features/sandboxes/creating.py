"""Making, resetting and dropping sandboxes. Each does all of its steps or none, and raises SandboxFailed with the step.

A reset makes another database, and leads the data store to it: until that is done, the one before is served.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.db import DEFAULT_DB_ALIAS, transaction
from django.utils import timezone
from oauth2_provider.models import get_access_token_model

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.audit import attribute_to
from edfi_api.common.one_process import exclusively
from edfi_api.common.settings_table import SETTINGS
from edfi_api.core.data_stores.models import State, Tenant
from edfi_api.core.data_stores.stores import (
    check_qualifiers,
    create_data_store,
    remove_data_store,
    set_connection,
    visible_to,
)
from edfi_api.core.security.clients import COMMAND, create_application, make_link
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Vendor
from edfi_api.features.loading.demo_district import SchoolYear
from edfi_api.features.sandboxes import databases
from edfi_api.features.sandboxes.exceptions import NoSuchSandbox, SandboxFailed, step
from edfi_api.features.sandboxes.models import Sandbox, Shape

_TYPE = "Sandbox"
_CHECK = "checking what is wanted"
# The days for which a sandbox that has ended is kept: until then its end may be put off on the page of its client.
KEPT = timedelta(days=7)


@dataclass(frozen=True)
class Wanted:
    """A sandbox to make. `vendor` is an existing vendor, or a new one; without it there is one of the same name."""

    name: str
    shape: Shape
    is_populated: bool = False
    expires_at: datetime | None = None
    vendor: Vendor | None = None
    tenant: Tenant | None = None
    context: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Made:
    """A new sandbox; the token of the link shows the secret once."""

    sandbox: Sandbox
    credentials: Credentials
    link_token: str


def create_sandbox(wanted: Wanted, *, by: str = COMMAND) -> Made:
    """Make a sandbox. Raises SandboxFailed, also if there is one of this name, or if another process makes one."""
    being_made = SandboxFailed(_CHECK, f"a sandbox {wanted.name} is being made")
    # The databases that are dropped could be those of a sandbox that was made after it was looked for.
    with exclusively(f"sandbox {wanted.name}", DEFAULT_DB_ALIAS, lambda: being_made):
        return _create(wanted, by)


def _create(wanted: Wanted, by: str) -> Made:
    with step(_CHECK):
        _check(wanted)
    database = databases.database_name(wanted.name, 1)
    # That of a command that was killed.
    databases.drop_all_of(wanted.name)
    with _database(database, wanted.shape, is_populated=wanted.is_populated), transaction.atomic():
        attribute_to(by)
        with step("making the data store"):
            context = _complete(wanted.context or {}, wanted.name)
            connection = databases.connection_string(database)
            store = create_data_store(
                f"sandbox {wanted.name}",
                type=_TYPE,
                context=context,
                connection=connection,
                state=State.ONLINE,
                tenant=wanted.tenant,
                by=by,
            )
        with step("making the client"):
            credentials = create_application(_application(wanted), [store.pk], by=by)
            client = ApiClient.objects.get(client_id=credentials.key)
            client.expires_at = wanted.expires_at
            client.save(update_fields=["expires_at"])
        with step("making the link to the secret"):
            token = make_link(client, credentials)
        with step("noting the sandbox"):
            sandbox = Sandbox.objects.create(
                name=wanted.name,
                shape=wanted.shape,
                is_populated=wanted.is_populated,
                data_store=store,
                client=client,
            )
            audit.log_change("sandbox created", sandbox=sandbox.name, client=client.client_id, by=by)
    return Made(sandbox, credentials, token)


def reset_sandbox(name: str, *, by: str = COMMAND) -> Sandbox:
    """Bring the contents of a sandbox back to those of the beginning; its client has to get another token. Raises
    NoSuchSandbox and SandboxFailed."""
    with transaction.atomic():
        sandbox = _locked(name)
        after = databases.database_name(name, sandbox.generation + 1)
        with _database(after, Shape(sandbox.shape), is_populated=sandbox.is_populated), transaction.atomic():
            with step("leading the data store to the new database"):
                set_connection(sandbox.data_store, databases.connection_string(after), by=by)
                # A process that remembers the client would lead it to the database before.
                get_access_token_model().objects.filter(application=sandbox.client).delete()
                sandbox.generation += 1
                sandbox.save(update_fields=["generation"])
            audit.log_change("sandbox reset", sandbox=name, client=sandbox.client.client_id, by=by)
    databases.drop_all_of(name, but=after)
    return sandbox


def drop_sandbox(name: str, *, by: str = COMMAND) -> None:
    """Remove a sandbox with its data store, database and client, and with the application and the vendor that have no
    other. Raises NoSuchSandbox and SandboxFailed."""
    with transaction.atomic():
        sandbox = _locked(name)
        application = sandbox.client.application
        with step("removing the client"):
            audit.log_change("sandbox dropped", sandbox=name, client=sandbox.client.client_id, by=by)
            sandbox.delete()
            sandbox.client.delete()
            if not application.api_clients.exists():
                application.delete()
                if application.vendor.name == name and not application.vendor.applications.exists():
                    application.vendor.delete()
        with step("removing the data store"):
            remove_data_store(sandbox.data_store, by=by)
        # Last, and before the transaction ends: if it fails, everything is still there.
        databases.drop_all_of(name)


def drop_ended(*, by: str = COMMAND) -> int:
    """Drop the sandboxes that have ended a week ago. Returns how many."""
    ended = Sandbox.objects.filter(client__expires_at__lt=timezone.now() - KEPT).values_list("name", flat=True)
    for name in list(ended):
        drop_sandbox(name, by=by)
    return len(ended)


def _check(wanted: Wanted) -> None:
    check_qualifiers(wanted.context or {}, api_settings.ROUTE_QUALIFIERS)
    Sandbox(name=wanted.name, shape=wanted.shape).clean_fields(exclude=["is_populated", "data_store", "client"])
    if Sandbox.objects.filter(name=wanted.name).exists():
        raise SandboxFailed(_CHECK, f"there is a sandbox {wanted.name} already")


def _database(name: str, shape: Shape, *, is_populated: bool) -> AbstractContextManager[None]:
    today = timezone.localdate()
    load = partial(databases.load_contents, shape=shape, today=today, is_populated=is_populated)
    return databases.make_database(name, databases.variant(shape, today, is_populated=is_populated), load)


def _complete(context: Mapping[str, str], name: str) -> dict[str, str]:
    """A value for each qualifier of addresses: those that are not given are the school year, or the name. Only the
    client of the sandbox is led to it by them, so other data stores may have the same."""
    year = str(SchoolYear.of(timezone.localdate()).year)
    given = {key.casefold(): value for key, value in context.items()}
    return {
        qualifier: given.get(qualifier.casefold(), year if "year" in qualifier.casefold() else name)
        for qualifier in api_settings.ROUTE_QUALIFIERS
    }


def _application(wanted: Wanted) -> Application:
    claim_set = ClaimSet.objects.filter(visible_to(wanted.tenant), name=wanted.shape.claim_set).first()
    if claim_set is None:
        raise SandboxFailed("making the client", f"there is no claim set {wanted.shape.claim_set}")
    application = Application(
        vendor=_find_or_create_vendor(wanted),
        name=wanted.name,
        claim_set=claim_set,
        education_organization_ids=databases.organization_ids(is_populated=wanted.is_populated),
    )
    application.full_clean()
    return application


def _find_or_create_vendor(wanted: Wanted) -> Vendor:
    prefixes = ["uri://ed-fi.org", f"uri://{wanted.name}.example"]
    vendor = wanted.vendor or Vendor.objects.filter(tenant=wanted.tenant, name=wanted.name).first()
    if vendor is None:
        vendor = Vendor(tenant=wanted.tenant, name=wanted.name, namespace_prefixes=prefixes)
    if vendor._state.adding:
        vendor.full_clean()
        vendor.save()
    return vendor


def _locked(name: str) -> Sandbox:
    found = Sandbox.objects.select_for_update(of=("self",)).select_related("data_store", "client__application__vendor")
    sandbox = found.filter(name=name).first()
    if sandbox is None:
        raise NoSuchSandbox(f"There is no sandbox {name}.")
    return sandbox


def default_address() -> str:
    """Return the address of a server of this machine with these settings."""
    port = SETTINGS["PORT"]
    return f"http://127.0.0.1:{os.environ.get(port.variable) or port.default}"


def address_of(sandbox: Sandbox, server: str) -> str:
    """Return the base address for the client of a sandbox."""
    store = sandbox.data_store
    values = {each.key.casefold(): each.value for each in store.contexts.all()}
    segments = [store.tenant.name] if store.tenant else []
    segments += [values[name.casefold()] for name in api_settings.ROUTE_QUALIFIERS if name.casefold() in values]
    return "/".join([server.rstrip("/"), *segments])


def link_of(server: str, token: str) -> str:
    """Return the address of the page that shows a secret once."""
    return f"{server.rstrip('/')}/{addresses.SHOWN_ONCE}#{token}"

"""The option `--tenant` of commands about what belongs to a tenant."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.arguments import name
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.tenants import tenant_named


def add_tenant(parser: ArgumentParser, help: str) -> None:
    """Add `--tenant`."""
    parser.add_argument("--tenant", type=name, metavar="TENANT", help=help)


def given_tenant(options: dict[str, Any]) -> Tenant | None:
    """The tenant of the option. Raises CommandError if there is none of this name."""
    if options["tenant"] is None:
        return None
    found = tenant_named(options["tenant"])
    if found is None:
        raise CommandError(f'There is no tenant "{options["tenant"]}"; there are: {_known()}.')
    return found


def needed_tenant(options: dict[str, Any]) -> Tenant | None:
    """Return the tenant of the options. On a server with tenants raises CommandError if they name none."""
    tenant = given_tenant(options)
    if tenant is None and api_settings.MULTI_TENANCY:
        raise CommandError(f"Say whose: --tenant. There are: {_known()}.")
    return tenant


_MOST_LISTED = 20


def _known() -> str:
    names = list(Tenant.objects.values_list("name", flat=True)[: _MOST_LISTED + 1])
    return ", ".join(names[:_MOST_LISTED] + ["..."] * (len(names) > _MOST_LISTED)) or "none"

"""Tenants: customers of the operator, each with vendors, claim sets, profiles and data stores that no other reaches.

Claim sets and profiles without a tenant are shared by all; vendors and data stores without one belong to a server
without tenants. The tenant of a row never changes.
"""

import re

from django.core.exceptions import ValidationError
from django.db.models import Model, Q

from edfi_api.common.logs import audit
from edfi_api.core.data_stores.exceptions import TenantMalformed, TenantTooLong
from edfi_api.core.data_stores.models import LONGEST_NAME, TENANT_NAME, Tenant
from edfi_api.core.data_stores.stores import COMMAND, check_segment


def create_tenant(name: str, *, by: str = COMMAND) -> Tenant:
    """Store a new tenant. Raises Django's `ValidationError` with the problems of the name, under `name`."""
    tenant = Tenant(name=name)
    tenant.full_clean()
    try:
        check_segment(name)
    except ValidationError as error:
        raise ValidationError({"name": error.messages}) from None
    tenant.save(force_insert=True)
    audit.administered("tenant created", tenant=name, by=by)
    return tenant


def check_tenant_segment(segment: str) -> Exception | None:
    """What keeps a segment of an address from being the name of a tenant: TenantTooLong or TenantMalformed."""
    if len(segment) > LONGEST_NAME:
        return TenantTooLong()
    return None if re.search(TENANT_NAME, segment) else TenantMalformed()


def tenant_named(name: str) -> Tenant | None:
    """The tenant with this name, in any case."""
    return Tenant.objects.filter(name__iexact=name).first()


def visible_to(tenant: Tenant | int | None) -> Q:
    """The claim sets or profiles that a tenant can use: its own and the shared ones; without a tenant the shared."""
    return Q(tenant=None) | Q(tenant=tenant)


def refuse_taken_name(row: Model, others: Q, lookup: str = "name") -> None:
    """Raise ValidationError if another one of the rows `others` has the name of `row`. Constraints enforce this in the
    database."""
    same = {lookup: row.name}  # type: ignore[attr-defined]
    taken = type(row)._default_manager.filter(others, **same).exclude(pk=row.pk)
    if taken.exists():
        raise ValidationError({"name": row.unique_error_message(type(row), ("name",))})

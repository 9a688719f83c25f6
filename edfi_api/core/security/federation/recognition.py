"""Signed token of another identity provider → the API client with this external identity, and its rights.

In the mode `registered` the rights are those of the API client; in the mode `claims` those that the token claims,
checked, and within what its issuer may say. API clients of that mode are made when the first token of each is seen.
They are there for what refers to a client: creators of documents, the audit log, limits, and switching one off in the
admin. They belong to a vendor and an application with the name of the issuer, and to no claim set.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from django.db import IntegrityError, transaction

from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import tenant_named, visible_to
from edfi_api.core.security.authenticated_client import AuthenticatedClient, authenticated_client, facts_of_client
from edfi_api.core.security.clients import store_client
from edfi_api.core.security.federation.validation import ValidToken, check_not_refused, validated
from edfi_api.core.security.issuers import ClaimMalformed, positive_numbers, texts, value_at
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, ExternalIdentity, Vendor
from edfi_api.core.security.names import covers

_MOST_CANDIDATES = 100


def client_of_signed_token(token: str) -> AuthenticatedClient | None:
    """The caller; None if the token is not of an issuer of the settings.

    Raises TokenRefused and IdentityProviderAway.
    """
    valid = validated(token, "data")
    if valid is None:
        return None
    check_not_refused(valid)
    rights = None
    client = _api_client(valid)
    if valid.issuer.claims.mode == "claims":
        tenant = _tenant(valid)
        rights = claimed_rights(valid, None if tenant is None else tenant.pk)
        if client is None:
            make_client(valid, tenant)
            client = _api_client(valid)
    if client is None:
        raise valid.refuse("no such client")
    if not client.is_usable(None):
        raise valid.refuse("client inactive")
    caller = authenticated_client(client, client, valid.expires)
    return caller if rights is None else replace(caller, **vars(rights))


def _tenant(valid: ValidToken) -> Tenant | None:
    name = valid.issuer.tenant
    tenant = None if name is None else tenant_named(name)
    if name is not None and tenant is None:
        raise valid.refuse("no such client")
    return tenant


def _api_client(valid: ValidToken) -> ApiClient | None:
    found = (
        ApiClient.objects.select_related("application__vendor__tenant")
        .annotate(**facts_of_client("pk", "application"))
        .filter(external_identity__issuer=valid.issuer.issuer, external_identity__value=valid.client)
    )
    if valid.issuer.tenant is not None:
        found = found.filter(application__vendor__tenant__name__iexact=valid.issuer.tenant)
    client: ApiClient | None = found.first()
    return client


def make_client(valid: ValidToken, tenant: Tenant | None) -> None:
    """Store the API client of a token, unless another request has just done so."""
    issuer = valid.issuer.issuer
    try:
        with transaction.atomic():
            vendor, _ = Vendor.objects.get_or_create(tenant=tenant, name=issuer)
            application, _ = Application.objects.get_or_create(vendor=vendor, name=issuer)
            identity = ExternalIdentity(issuer=issuer, value=valid.client)
            store_client(ApiClient(name=valid.client), application, issuer, identity)
    except IntegrityError:
        if not ExternalIdentity.objects.filter(issuer=issuer, value=valid.client).exists():
            raise


@dataclass(frozen=True)
class ClaimedRights:
    """The rights that a token claims, with the names of the attributes of `AuthenticatedClient` that they replace."""

    claim_set_id: int
    claim_set_name: str
    namespace_prefixes: tuple[str, ...]
    education_organization_ids: tuple[int, ...]
    data_store_ids: frozenset[int]


def claimed_rights(valid: ValidToken, tenant_id: int | None) -> ClaimedRights:
    """The rights that the token claims for a client of the tenant.

    Raises TokenRefused: a claim that is not understood must neither widen nor silently narrow rights.
    """
    paths, allowed = valid.issuer.claims, valid.issuer.claims.allowed
    claim_set = _claim_set(valid, tenant_id)
    try:
        prefixes = texts(value_at(valid.claims, paths.namespace_prefixes))
        organizations = positive_numbers(value_at(valid.claims, paths.education_organization_ids))
        stores = positive_numbers(value_at(valid.claims, paths.data_store_ids))
    except ClaimMalformed:
        raise valid.refuse("claims") from None
    bounds = allowed.namespace_prefixes
    is_within = bounds is None or all(covers(bounds, prefix) for prefix in prefixes)
    if not (
        is_within and _within(organizations, allowed.education_organizations) and _within(stores, allowed.data_stores)
    ):
        raise valid.refuse("claims")
    return ClaimedRights(claim_set.pk, claim_set.name, prefixes, organizations, frozenset(stores))


def _within(values: Collection[int], allowed: Collection[int] | None) -> bool:
    return allowed is None or set(values) <= set(allowed)


def _claim_set(valid: ValidToken, tenant_id: int | None) -> ClaimSet:
    """The only claim set that the token names; it may have other roles and scopes, too."""
    names = _candidates(value_at(valid.claims, valid.issuer.claims.claim_set))
    found = list(ClaimSet.objects.filter(visible_to(tenant_id), name__in=names)[:2])
    allowed = valid.issuer.claims.allowed.claim_sets
    if len(found) != 1 or (allowed is not None and found[0].name not in allowed):
        raise valid.refuse("claim set")
    return found[0]


def _candidates(value: Any) -> list[str]:
    """The whole text too: a name of a claim set may have blanks."""
    items = [value, *value.split()] if isinstance(value, str) else value if isinstance(value, list) else []
    return [each for each in items[:_MOST_CANDIDATES] if isinstance(each, str) and each.isprintable()]

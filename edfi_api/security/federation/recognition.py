"""Signed token of another identity provider → the API client with this external identity, and its rights.

In the mode `registered` the rights are those of the API client; in the mode `claims` those that the token claims. API
clients of that mode are made when the first token of each is seen. They are there for what refers to a client: creators
of documents, the audit log, limits, and switching one off in the admin. They belong to a vendor and an application with
the name of the issuer, and to no claim set.
"""

from dataclasses import replace

from django.db import IntegrityError, transaction

from edfi_api.data_stores.models import Tenant
from edfi_api.data_stores.tenants import tenant_named

from ..authenticated_client import AuthenticatedClient, authenticated_client, facts_of_client
from ..clients import store_client
from ..models import ApiClient, Application, Vendor
from .models import ExternalIdentity
from .refusing import check_not_refused
from .rights import claimed_rights
from .validation import ValidToken, validated


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
        raise valid.refused("no such client")
    if not client.is_usable(None):
        raise valid.refused("client inactive")
    caller = authenticated_client(client, client, valid.expires)
    return caller if rights is None else replace(caller, **vars(rights))


def _tenant(valid: ValidToken) -> Tenant | None:
    name = valid.issuer.tenant
    tenant = None if name is None else tenant_named(name)
    if name is not None and tenant is None:
        raise valid.refused("no such client")
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

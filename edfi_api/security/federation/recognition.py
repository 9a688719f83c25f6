"""Signed token of another identity provider → the API client with this external identity, and its rights.

In the mode `registered` the rights are those of the API client; in the mode `claims` those that the token claims.
"""

from datetime import datetime

from django.db.models import Max

from ..authenticated_client import AuthenticatedClient, authenticated_client, facts_of_client
from ..models import ApiClient
from .models import RefusedTokens
from .validation import ValidToken, validated


def client_of_signed_token(token: str) -> AuthenticatedClient | None:
    """The caller; None if the token is not of an issuer of the settings.

    Raises TokenRefused and IdentityProviderAway.
    """
    valid = validated(token, "data")
    if valid is None:
        return None
    check_not_taken_back(valid)
    client = _api_client(valid)
    if client is None:
        raise valid.refused("no such client")
    if not client.is_usable(None):
        raise valid.refused("client inactive")
    return authenticated_client(client, client, valid.expires)


def check_not_taken_back(valid: ValidToken) -> None:
    """Raise TokenRefused for a token that was issued before a time that `refuse_tokens` has set."""
    before = refused_before(valid.issuer.issuer, valid.client)
    if before is not None and valid.issued_at < before:
        raise valid.refused("taken back")


def refused_before(issuer: str, client: str) -> datetime | None:
    """Tokens of the client that were issued before this time are refused; None if none are."""
    found = RefusedTokens.objects.filter(issuer=issuer, client__in=["", client])
    before: datetime | None = found.aggregate(before=Max("issued_before"))["before"]
    return before


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

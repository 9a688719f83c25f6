"""Signed token of another identity provider → the API client with this external identity, and its rights.

In the mode `registered` the rights are those of the API client; in the mode `claims` those that the token claims.
"""

from ..authenticated_client import AuthenticatedClient, authenticated_client, facts_of_client
from ..models import ApiClient
from .refusing import check_not_refused
from .validation import ValidToken, validated


def client_of_signed_token(token: str) -> AuthenticatedClient | None:
    """The caller; None if the token is not of an issuer of the settings.

    Raises TokenRefused and IdentityProviderAway.
    """
    valid = validated(token, "data")
    if valid is None:
        return None
    check_not_refused(valid)
    client = _api_client(valid)
    if client is None:
        raise valid.refused("no such client")
    if not client.is_usable(None):
        raise valid.refused("client inactive")
    return authenticated_client(client, client, valid.expires)


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

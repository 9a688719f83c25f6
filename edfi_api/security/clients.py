"""API clients as the operator makes them and as the token endpoint recognises them.

A secret is known in the one moment it is made; what is stored is its hash.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction
from oauth2_provider.generators import generate_client_id, generate_client_secret
from oauth2_provider.models import get_access_token_model

from .hashers import ClientSecretHasher
from .models import ApiClient


@dataclass(frozen=True)
class Credentials:
    """What a client shows to get a token."""

    key: str
    secret: str = field(repr=False)


def create_client(
    name: str,
    claim_set_name: str,
    education_organization_ids: Sequence[int] = (),
    namespace_prefixes: Sequence[str] = (),
    key: str | None = None,
) -> Credentials:
    """Store a new client; without a `key` one is generated.

    Raises Django's `ValidationError` with everything that is wrong, a name or a key that is taken included.
    """
    credentials = Credentials(key or generate_client_id(), generate_client_secret())
    client = ApiClient(
        name=name,
        client_id=credentials.key,
        client_secret=ClientSecretHasher().hash(credentials.secret),
        claim_set_name=claim_set_name,
        education_organization_ids=list(education_organization_ids),
        namespace_prefixes=list(namespace_prefixes),
    )
    client.full_clean()
    client.save(force_insert=True)
    return credentials


@transaction.atomic
def replace_secret(client: ApiClient) -> Credentials:
    """Give `client` a new secret. The old one, and the tokens it obtained, are void."""
    credentials = Credentials(client.client_id, generate_client_secret())
    client.client_secret = ClientSecretHasher().hash(credentials.secret)
    client.save(update_fields=["client_secret", "updated"])
    get_access_token_model().objects.filter(application=client).delete()
    return credentials


def recognise_client(credentials: Credentials) -> ApiClient | None:
    """The active client these credentials belong to, or None."""
    # PostgreSQL cannot even be asked for a text with a NUL in it.
    if "\0" in credentials.key:
        return None
    client = ApiClient.objects.filter(client_id=credentials.key, is_active=True).first()
    if client is None or not ClientSecretHasher().verify(credentials.secret, client.client_secret):
        return None
    return client

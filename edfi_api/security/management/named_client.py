"""Lookup of the API client that a command's argument names."""

from django.core.management.base import CommandError
from django.db.models import Q

from edfi_api.security.models import ApiClient


def client_named(text: str) -> ApiClient:
    """The client with this key or name; a key takes precedence."""
    found = ApiClient.objects.filter(Q(client_id=text) | Q(name=text))
    if not found:
        raise CommandError(f'There is no API client with the name or key "{text}".')
    best: ApiClient = min(found, key=lambda client: client.client_id != text)
    return best

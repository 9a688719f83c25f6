"""Lookup of the management client that a command's argument names."""

from django.core.management.base import CommandError

from edfi_api.management_api.clients import client_of_key
from edfi_api.management_api.models import ManagementClient


def management_client_named(key: str) -> ManagementClient:
    """The client with this key."""
    found = client_of_key(key)
    if found is None:
        raise CommandError(f'There is no management client "{key}".')
    return found

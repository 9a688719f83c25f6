"""`list_management_clients`: the clients of the management API, one line each."""

from typing import Any

from django.core.management.base import BaseCommand

from edfi_api.features.management_api.models import ManagementClient


class Command(BaseCommand):
    """See the module."""

    help = "Lists the clients of the management API, with their scopes."

    def handle(self, **options: Any) -> None:
        for client in ManagementClient.objects.all():
            status = "active" if client.is_active else "disabled"
            self.stdout.write(f"{client.key}  {status}  {' '.join(client.scopes)}")

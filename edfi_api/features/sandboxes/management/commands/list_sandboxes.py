"""`manage.py list_sandboxes`"""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from edfi_api.features.sandboxes.models import Sandbox


class Command(BaseCommand):
    help = "Lists the sandboxes: name, shape, contents, data store, key, and when each ends."

    def handle(self, *args: Any, **options: Any) -> None:
        for sandbox in Sandbox.objects.select_related("client"):
            contents = "populated" if sandbox.is_populated else "organizations"
            end = sandbox.client.expires_at
            ends = f"{'ended' if end <= timezone.now() else 'ends'} {end:%Y-%m-%d %H:%M}" if end else "without end"
            facts = [sandbox.name, sandbox.shape, contents, f"data store {sandbox.data_store_id}"]
            self.stdout.write("  ".join([*facts, sandbox.client.client_id, ends]))

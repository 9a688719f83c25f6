"""`list_tenants`: one line for each tenant, with the number of its data stores."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db.models import Count

from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.models import Tenant


class Command(BaseCommand):
    """See the module."""

    help = "Lists the tenants: id, name, number of data stores."

    def handle(self, *args: Any, **options: Any) -> None:
        for tenant in Tenant.objects.annotate(number=Count("data_stores")).order_by("id"):
            self.stdout.write(f"{tenant.pk}  {tenant}  {counted(tenant.number, 'data store')}")

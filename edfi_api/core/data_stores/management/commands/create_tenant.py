"""`create_tenant NAME`: a customer with vendors, clients, claim sets, profiles and data stores of its own."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, text
from edfi_api.core.data_stores.stores import create_tenant, tenant_named


class Command(ReportingCommand):
    """See the module."""

    error_texts = {ValidationError: lambda error: " ".join(error.messages)}
    help = "Creates a tenant; its name is the first segment of its addresses."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=text, help="letters, digits, '_' and '-'")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        if existing := tenant_named(name):
            raise CommandError(f"There is a tenant {existing} already.")
        tenant = create_tenant(name)
        self.stdout.write(f"tenant {tenant.pk} {tenant}")

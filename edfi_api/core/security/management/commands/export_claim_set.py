"""`export_claim_set NAME`: print a claim set as the management API exports it, which `claimSets/import` takes."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from edfi_api.common.commands import name
from edfi_api.core.data_stores.data_store_command import add_tenant, given_tenant
from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.security.claims.exchange import export_claim_set
from edfi_api.core.security.claims.stored_claims import hold_claims
from edfi_api.core.security.models import ClaimSet


class Command(BaseCommand):
    """See the module."""

    help = "Prints a claim set as JSON, as the management API exports and imports it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the claim set")
        add_tenant(parser, "tenant whose claim set it is, in addition to those that all share")

    @transaction.atomic
    def handle(self, **options: Any) -> None:
        hold_claims()
        visible = ClaimSet.objects.filter(visible_to(given_tenant(options)))
        row = visible.filter(name__iexact=options["name"]).first()
        if row is None:
            raise CommandError(f'There is no claim set "{options["name"]}".')
        self.stdout.write(json.dumps(export_claim_set(row), indent=2))

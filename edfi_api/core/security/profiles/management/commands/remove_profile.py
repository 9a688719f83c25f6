"""`remove_profile NAME`: remove an API profile that no application is bound by."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.common.commands import text
from edfi_api.core.data_stores.data_store_command import add_tenant, given_tenant
from edfi_api.core.security.clients import COMMAND
from edfi_api.core.security.profiles.loading import NoSuchProfiles, StillAssigned, remove_profile


class Command(BaseCommand):
    """See the module."""

    help = "Removes an API profile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=text, help="name of the API profile")
        add_tenant(parser, "tenant whose profile it is; without, it is one that all tenants share")

    def handle(self, *, name: str, **options: Any) -> None:
        try:
            remove_profile(name, by=COMMAND, tenant=given_tenant(options))
        except NoSuchProfiles as error:
            raise CommandError(f"There is no profile {error}.") from error
        except StillAssigned as error:
            raise CommandError(f"{name} is assigned to {error}; assign_profiles takes it away from them.") from error
        self.stdout.write(f"Removed {name}.")

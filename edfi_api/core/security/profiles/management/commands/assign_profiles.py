"""`assign_profiles APPLICATION NAME…`: bind the clients of an application by exactly these API profiles."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, text
from edfi_api.core.data_stores.data_store_command import add_tenant, given_tenant
from edfi_api.core.security.clients import COMMAND
from edfi_api.core.security.management.named_client import application_named
from edfi_api.core.security.profiles.loading import NoSuchProfiles, assign_profiles, notices
from edfi_api.core.served import current_surface
from edfi_api.model.profiles.checking import ProfileChecker


class Command(ReportingCommand):
    """See the module."""

    error_texts = {NoSuchProfiles: lambda error: f"There are no profiles {error}."}
    help = "Assigns exactly these API profiles to an application; --none removes all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("application", type=text, help="name of the application")
        parser.add_argument("names", nargs="*", type=text, metavar="NAME", help="name of an API profile")
        add_tenant(parser, "tenant whose application it is")
        parser.add_argument("--none", action="store_true", help="remove all profiles")

    def handle(self, *, application: str, names: list[str], none: bool, **options: Any) -> None:
        if bool(names) == none:
            raise CommandError("Name profiles, or say --none.")
        found = application_named(application, given_tenant(options))
        assigned = assign_profiles(found, names, by=COMMAND)
        self.stdout.write(f"{application}: {', '.join(profile.name for profile in assigned) or 'no profile'}")
        checker = ProfileChecker(current_surface())
        for profile in assigned:
            for notice in notices(profile, checker):
                self.stderr.write(f"Note: {notice}")

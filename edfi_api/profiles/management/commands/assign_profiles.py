"""`assign_profiles APPLICATION NAME…`: bind the clients of an application by exactly these API profiles."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.management.arguments import text
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.profiles.loading import NoSuchProfiles, assign_profiles, notices
from edfi_api.security.clients import COMMAND
from edfi_api.security.models import Application
from edfi_api.startup import current_surface


class Command(BaseCommand):
    """See the module."""

    help = "Bind the clients of an application by exactly these API profiles; --none takes all away."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("application", type=text)
        parser.add_argument("names", nargs="*", type=text, metavar="NAME")
        parser.add_argument("--none", action="store_true", help="the application is bound by no profile")

    def handle(self, *, application: str, names: list[str], none: bool, **options: Any) -> None:
        if bool(names) == none:
            raise CommandError("Name profiles, or say --none.")
        found = list(Application.objects.filter(name=application)[:2])
        if len(found) != 1:
            how_many = "more than one application" if found else "no application"
            raise CommandError(f'There is {how_many} "{application}".')
        try:
            assigned = assign_profiles(found[0], names, by=COMMAND)
        except NoSuchProfiles as error:
            raise CommandError(f"There are no profiles {error}.") from error
        self.stdout.write(f"{application}: {', '.join(profile.name for profile in assigned) or 'no profile'}")
        checker = ProfileChecker(current_surface())
        for profile in assigned:
            for notice in notices(profile, checker):
                self.stderr.write(f"Note: {notice}")

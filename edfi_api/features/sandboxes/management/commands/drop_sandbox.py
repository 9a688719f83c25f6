"""`manage.py drop_sandbox NAME --yes NAME`"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, name
from edfi_api.features.sandboxes.creating import drop_sandbox
from edfi_api.features.sandboxes.exceptions import ERRORS_OF_SANDBOXES, NoSuchSandbox


class Command(ReportingCommand):
    error_texts = ERRORS_OF_SANDBOXES
    help = (
        "Removes a sandbox with its database, its data store and its client, and the application and vendor that were "
        "made for it. If a step fails, everything is still there. A sandbox that does not exist is no error."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the sandbox")
        parser.add_argument("--yes", type=name, required=True, metavar="NAME", help="the name again")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["name"] != options["yes"]:
            raise CommandError(f'--yes is not "{options["name"]}".')
        try:
            drop_sandbox(options["name"])
        except NoSuchSandbox as error:
            self.stdout.write(str(error))
        else:
            self.stdout.write(f"sandbox {options['name']}: dropped")

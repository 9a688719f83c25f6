"""`manage.py reset_sandbox NAME`"""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import ReportingCommand, name
from edfi_api.features.sandboxes.creating import reset_sandbox
from edfi_api.features.sandboxes.exceptions import ERRORS_OF_SANDBOXES


class Command(ReportingCommand):
    error_texts = ERRORS_OF_SANDBOXES
    help = (
        "Gives a sandbox a new database with the documents of its beginning. Key and secret stay; tokens end, so the "
        "client gets another one. If a step fails, the sandbox is as it was."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the sandbox")

    def handle(self, *args: Any, **options: Any) -> None:
        sandbox = reset_sandbox(options["name"])
        self.stdout.write(f"sandbox {sandbox}: reset; its client needs a new token")

"""`manage.py describe_surface --format json`"""

from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand

from edfi_api.core.served import current_surface
from edfi_api.model.surface.describe import describe, table


class Command(BaseCommand):
    help = "Prints the API of the configured projects: every endpoint, and with --format json every path of its bodies."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["table", "json"], default="table", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        surface = current_surface()
        if options["format"] == "json":
            self.stdout.write(orjson.dumps(describe(surface), option=orjson.OPT_INDENT_2).decode())
            return
        for line in table(surface):
            self.stdout.write(line)

"""`manage.py load_descriptors`, `manage.py load_descriptors Descriptors/`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from descriptors.loading.loader import load_bundled, load_files
from edfi_api.arguments import path
from edfi_api.conf import api_settings
from edfi_api.interchange.command_errors import as_command_errors
from edfi_api.interchange.files import interchange_files
from edfi_api.interchange.report import RefusalLog
from edfi_api.interchange.results import COLUMNS, LoadResult
from edfi_api.startup import current_surface


class Command(BaseCommand):
    help = (
        "Loads descriptor values: those that come with the data standard, or those in official Ed-Fi descriptor XML. "
        "Running it again changes only what differs. A refused value, or a file that cannot be read to its end, makes "
        "the exit status 1 after the rest is loaded."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", type=path, metavar="PATH", help="an XML file, or a folder of them")

    def handle(self, *args: Any, paths: list[Path], **options: Any) -> None:
        with as_command_errors(), RefusalLog(self.stderr) as log:
            result = self._load(paths, log)
        counts = ", ".join(f"{result.total(outcome)} {column}" for column, outcome in COLUMNS.items())
        self.stdout.write(f"descriptors: {counts}")
        if log.count:
            raise CommandError(f"{log.count} values or files were refused")

    def _load(self, paths: list[Path], log: RefusalLog) -> LoadResult:
        if not paths:
            return load_bundled(current_surface(), api_settings.data_standard, log)
        return load_files(current_surface(), interchange_files(paths), log)

"""`manage.py load_descriptors`, `manage.py load_descriptors Descriptors/`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from descriptors.loading import load_bundled, load_files
from edfi_api.common.commands import path
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.served import current_surface
from edfi_api.features.loading.exceptions import ERRORS_OF_INTERCHANGE_FILES
from edfi_api.features.loading.interchange.loading import interchange_files
from edfi_api.features.loading.reports.report import RefusalLimit, RefusalLog, add_max_refused, counts, raise_failure
from edfi_api.features.loading.reports.results import LoadResult


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_INTERCHANGE_FILES
    help = (
        "Loads descriptor values: those bundled with the data standard, or those in official Ed-Fi descriptor XML. A "
        "repeated run changes only what differs. The exit status is 1, after the rest is loaded, if more documents "
        "were refused than --max-refused allows, or a file could not be read to its end."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", type=path, metavar="PATH", help="an XML file, or a folder of them")
        add_max_refused(parser)

    def handle(self, *args: Any, paths: list[Path], max_refused: RefusalLimit, database: str, **options: Any) -> None:
        files = interchange_files(paths) if paths else []
        with RefusalLog(self.stderr) as log:
            result = self._load(files, log, database)
            log.summarize(result)
        self.stdout.write(f"descriptors: {counts(result)}")
        raise_failure(result, len(files), max_refused)

    def _load(self, files: list[Path], log: RefusalLog, using: str) -> LoadResult:
        if not files:
            return load_bundled(current_surface(), api_settings.data_standard, log, using)
        return load_files(current_surface(), files, log, using)

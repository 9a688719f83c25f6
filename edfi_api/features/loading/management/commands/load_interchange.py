"""`manage.py load_interchange exports/ Student.xml --report refusals.json`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from edfi_api.common.commands import path
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.routing import Store
from edfi_api.core.served import current_surface
from edfi_api.features.loading.exceptions import ERRORS_OF_INTERCHANGE_FILES
from edfi_api.features.loading.interchange.loading import interchange_files, load_interchange
from edfi_api.features.loading.load_options import LoadOptions, add_load_options, run_load, with_report_of_its_own
from edfi_api.features.loading.reports.report import RefusalLog
from edfi_api.features.loading.reports.results import LoadResult


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_INTERCHANGE_FILES
    help = (
        "Loads Ed-Fi interchange XML: any interchange, any entity, in the order that references need. Existing "
        "documents are replaced, so a repeated load changes nothing. Refusals are listed on stderr as "
        "'file:line: resource: reason' and do not stop the rest; documents of a resource that the API does not have "
        "are listed in one line for each such resource. The exit status is 1 if no document was accepted, or more "
        "were refused than --max-refused allows; if a file could not be read to its end; if a path does not "
        "exist or has no XML file in it; and with --strict at the first refusal."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=path, metavar="PATH", help="an XML file, or a folder of them")
        add_load_options(parser)

    def options_for(self, store: Store, options: dict[str, Any]) -> dict[str, Any]:
        return with_report_of_its_own(options, store)

    def handle(self, *args: Any, paths: list[Path], database: str, **options: Any) -> None:
        surface = current_surface()
        chosen = LoadOptions.of(options)
        files = interchange_files(paths)

        def load(log: RefusalLog) -> LoadResult:
            return load_interchange(
                surface,
                files,
                log,
                database,
                renames=chosen.renames,
                mapping=chosen.mapping,
                is_dry_run=chosen.dry_run,
                skips_rules=chosen.skip_rules,
            )

        run_load(self, len(files), chosen, load)

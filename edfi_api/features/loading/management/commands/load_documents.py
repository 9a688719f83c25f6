"""`manage.py load_documents students.jsonl exports/`, `... | manage.py load_documents -`"""

import gc
from argparse import ArgumentParser
from typing import Any

from edfi_api.common.commands import not_empty, text
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.routing import Store
from edfi_api.core.served import current_surface
from edfi_api.features.loading.bulk.candidates import PreservedFields
from edfi_api.features.loading.exceptions import ERRORS_OF_JSON_LINES
from edfi_api.features.loading.json_lines.loading import load_documents
from edfi_api.features.loading.json_lines.sources import resource_called, sources
from edfi_api.features.loading.load_options import (
    LoadOptions,
    add_load_options,
    add_processes,
    run_load,
    with_report_of_its_own,
)
from edfi_api.features.loading.reports.report import RefusalLog
from edfi_api.features.loading.reports.results import LoadResult


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_JSON_LINES
    help = (
        "Loads documents from JSON Lines or CSV, gzip or not, in the order that references need. A file named after an "
        "endpoint, students.jsonl or ed-fi.students.jsonl.gz, has a body on each line; students.csv has "
        "one on each row, with headers such as schoolReference.schoolId or addresses[0].city; in other files, and on "
        'standard input (-), each line has its resource: {"resource": "/ed-fi/students", "body": {...}}. Existing '
        "documents are replaced, so a repeated load changes nothing and skips unchanged documents quickly. Refusals "
        "are listed on stderr as 'file:line: resource: reason' and do not stop the rest; documents of a "
        "resource that the API does not have are listed in one line for each such resource. The exit status is 1 if "
        "no document was accepted, or more were refused than --max-refused allows; if a file could not be "
        "read to its end; if a path does not exist or has no file in it; and with --strict at the first refusal."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="+", type=not_empty, metavar="PATH", help="a file, a folder of them, or - for standard input"
        )
        parser.add_argument(
            "--resource", type=text, metavar="ENDPOINT", help="the resource of every line, regardless of file names"
        )
        add_load_options(parser)
        parser.add_argument(
            "--keep-ids", action="store_true", help="new documents get the ids that export_documents --ids has written"
        )
        add_processes(parser)

    def options_for(self, store: Store, options: dict[str, Any]) -> dict[str, Any]:
        return with_report_of_its_own(options, store)

    def handle(
        self,
        *args: Any,
        paths: list[str],
        resource: str | None,
        processes: int | None,
        keep_ids: bool,
        database: str,
        **options: Any,
    ) -> None:
        surface = current_surface()
        gc.freeze()  # Otherwise collections traverse the surface again and again: a tenth of this process's time.
        chosen = LoadOptions.of(options)
        longest = api_settings.MAX_BODY_BYTES
        of_files = surface if chosen.mapping is None else chosen.mapping.before
        named = resource_called(of_files, resource, chosen.renames) if resource else None
        files = sources(of_files, paths, named, chosen.renames)

        def load(log: RefusalLog) -> LoadResult:
            return load_documents(
                surface,
                files,
                log,
                longest,
                using=database,
                processes=processes,
                renames=chosen.renames,
                mapping=chosen.mapping,
                is_dry_run=chosen.dry_run,
                skips_rules=chosen.skip_rules,
                preserved=PreservedFields.IDS if keep_ids else PreservedFields.NOTHING,
            )

        run_load(self, len(files), chosen, load)

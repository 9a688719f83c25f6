"""`manage.py load_interchange exports/ Student.xml --report refusals.json`"""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from edfi_api.loading.interchange.command_errors import as_command_errors
from edfi_api.loading.interchange.files import interchange_files
from edfi_api.loading.interchange.loading import load_interchange
from edfi_api.loading.interchange.refusal_limit import RefusalLimit, add_strict_and_max_refused
from edfi_api.loading.interchange.report import RefusalLog, raise_failure, table
from edfi_api.management.arguments import path
from edfi_api.startup import current_surface


class Command(BaseCommand):
    help = (
        "Loads Ed-Fi interchange XML: any interchange, any entity, in the order that references need. Existing "
        "documents are replaced, so a repeated load changes nothing. Refusals are listed on stderr as "
        "'file:line: resource: reason' and do not stop the rest; documents of a resource that the API does not have "
        "are listed in one line for each such resource. The exit status is 1 if no document was accepted, or more "
        "were refused than --max-refused allows; if a file could not be read to its end; if a path does not "
        "exist or has no XML file in it; and with --strict at the first refusal."
    )

    # System checks load the URLconf, which takes longer than a small load.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=path, metavar="PATH", help="an XML file, or a folder of them")
        add_strict_and_max_refused(parser)
        parser.add_argument("--report", type=path, metavar="FILE", help="write all refusals and the counts as JSON")

    def handle(
        self,
        *args: Any,
        paths: list[Path],
        strict: bool,
        max_refused: RefusalLimit | None,
        report: Path | None,
        **options: Any,
    ) -> None:
        started = time.monotonic()
        surface = current_surface()
        with as_command_errors():
            files = interchange_files(paths)
            with RefusalLog(self.stderr, report, is_strict=strict) as log:
                result = load_interchange(surface, files, log)
                log.summarise(result)
        self.stdout.write("\n".join(table(result)))
        self.stdout.write(f"{len(files)} files in {time.monotonic() - started:.1f} s")
        raise_failure(result, len(files), max_refused)

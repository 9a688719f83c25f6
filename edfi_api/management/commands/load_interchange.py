"""`manage.py load_interchange exports/ Student.xml --report refusals.json`"""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.arguments import path
from edfi_api.interchange.command_errors import as_command_errors
from edfi_api.interchange.files import interchange_files
from edfi_api.interchange.loading import load_interchange
from edfi_api.interchange.report import RefusalLog, table
from edfi_api.startup import current_surface


class Command(BaseCommand):
    help = (
        "Loads Ed-Fi interchange XML: any interchange, any entity, in the order that references need. Documents that "
        "exist are replaced, so running it again changes nothing. What is refused is listed on stderr as "
        "'file:line: resource: reason' and does not stop the rest, nor does it change the exit status: 0 means that "
        "all files were read to their end. It is 1 if a file could not be, if a path does not exist, if there is no "
        "XML file in it, and with --strict at the first refusal."
    )

    # They look at the URL maps of the server, which takes longer than a small load.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=path, metavar="PATH", help="an XML file, or a folder of them")
        parser.add_argument("--strict", action="store_true", help="stop at the first refusal")
        parser.add_argument("--report", type=path, metavar="FILE", help="write all refusals and the counts as JSON")

    def handle(self, *args: Any, paths: list[Path], strict: bool, report: Path | None, **options: Any) -> None:
        started = time.monotonic()
        surface = current_surface()
        with as_command_errors():
            files = interchange_files(paths)
            with RefusalLog(self.stderr, report, is_strict=strict) as log:
                result = load_interchange(surface, files, log)
                log.summarise(result)
        self.stdout.write("\n".join(table(result)))
        self.stdout.write(f"{len(files)} files in {time.monotonic() - started:.1f} s")
        if result.unreadable:
            raise CommandError(f"{len(result.unreadable)} of {len(files)} files could not be read to their end")

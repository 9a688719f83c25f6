"""`manage.py load_documents students.jsonl exports/`, `... | manage.py load_documents -`"""

import gc
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from edfi_api.conf import api_settings
from edfi_api.loading.interchange.refusal_limit import RefusalLimit, add_strict_and_max_refused
from edfi_api.loading.interchange.report import RefusalLog, raise_failure, table
from edfi_api.loading.json_lines.command_errors import as_command_errors
from edfi_api.loading.json_lines.loading import load_documents
from edfi_api.loading.json_lines.sources import resource_called, sources
from edfi_api.management.arguments import not_empty, path, text, whole_number
from edfi_api.startup import current_surface

_MOST_PROCESSES = 256


class Command(BaseCommand):
    help = (
        "Loads documents from JSON Lines, gzip or not, in the order that references need. A file named after an "
        "endpoint, students.jsonl or ed-fi.students.jsonl.gz, has a body on each line; in any other file, and on "
        'standard input (-), each line has its resource: {"resource": "/ed-fi/students", "body": {...}}. Existing '
        "documents are replaced, so a repeated load changes nothing and skips unchanged documents quickly. Refusals "
        "are listed on stderr as 'file:line: resource: reason' and do not stop the rest; documents of a "
        "resource that the API does not have are listed in one line for each such resource. The exit status is 1 if "
        "no document was accepted, or more were refused than --max-refused allows; if a file could not be "
        "read to its end; if a path does not exist or has no file in it; and with --strict at the first refusal."
    )

    # System checks load the URLconf, which takes longer than a small load.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="+", type=not_empty, metavar="PATH", help="a file, a folder of them, or - for standard input"
        )
        parser.add_argument(
            "--resource", type=text, metavar="ENDPOINT", help="the resource of every line, regardless of file names"
        )
        add_strict_and_max_refused(parser)
        parser.add_argument("--report", type=path, metavar="FILE", help="write all refusals and the counts as JSON")
        parser.add_argument(
            "--processes",
            type=whole_number(0, _MOST_PROCESSES),
            metavar="N",
            help="processes that prepare documents, and connections that write them; default: one for each processor",
        )

    def handle(
        self,
        *args: Any,
        paths: list[str],
        resource: str | None,
        strict: bool,
        max_refused: RefusalLimit | None,
        report: Path | None,
        processes: int | None,
        **options: Any,
    ) -> None:
        started = time.monotonic()
        surface = current_surface()
        gc.freeze()  # Otherwise collections traverse the surface again and again: a tenth of this process's time.
        with as_command_errors():
            files = sources(surface, paths, resource_called(surface, resource) if resource else None)
            with RefusalLog(self.stderr, report, is_strict=strict) as log:
                result = load_documents(surface, files, log, api_settings.MAX_BODY_BYTES, processes=processes)
                log.summarise(result)
        self.stdout.write("\n".join(table(result)))
        self.stdout.write(f"{len(files)} files in {time.monotonic() - started:.1f} s")
        if not result.sent and not result.unreadable:
            self.stderr.write("nothing was loaded: there is no document in the files")
        raise_failure(result, len(files), max_refused)

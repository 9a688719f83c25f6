"""`manage.py import_table classes.xlsx --client KEY --template classes.json`"""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS
from tqdm import tqdm

from edfi_api.common.commands import not_empty, path, text
from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, DataStoreNotFound
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.queries.csv_text import csv_file
from edfi_api.core.security.management.named_client import client_named
from edfi_api.core.served import current_surface
from edfi_api.features.loading.exceptions import ResourceNotServed
from edfi_api.features.loading.json_lines.sources import resource_called
from edfi_api.features.loading.reports.report import add_max_refused
from edfi_api.features.tables.exceptions import ClientGone, InvalidTemplate, UnreadableTable
from edfi_api.features.tables.jobs import database_of
from edfi_api.features.tables.loading import (
    COLUMNS,
    LEFT_OUT,
    OUTCOMES,
    REFUSED,
    Loader,
    RowResult,
    problem_text,
    report_rows,
)
from edfi_api.features.tables.mapping import TableMapping
from edfi_api.features.tables.members import Members
from edfi_api.features.tables.named_templates import ReadTemplate, template_of_headers, templates_named
from edfi_api.features.tables.reading import Table, open_table
from edfi_api.features.tables.suggesting import DescriptorWords

_SHOWN = 20


class Command(DataStoreCommand):
    """See the module."""

    takes_several = False
    error_texts = {
        UnreadableTable: str,
        InvalidTemplate: str,
        ClientGone: str,
        DataStoreNotFound: lambda _: "The client may not use this database: name one of its data stores.",
        ConnectionUnusable: lambda error: f"The data store cannot be used: {error.reason}.",
        ResourceNotServed: lambda error: f"the API offers no {error.name}",
    }
    help = (
        "Loads the rows of a table, in CSV or XLSX, as an API client with its rights. A template says which column is "
        "which member: a kept one by its name, or a file, also one of Ed-Fi's Data Import. Without a template, headers "
        "are members, such as schoolReference.schoolId. Existing documents are replaced, so a repeated load changes "
        "nothing. Refused rows are listed on stderr with their cells, and do not stop the others. The exit status is 1 "
        "if more rows were refused than --max-refused allows."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=path, metavar="FILE", help="CSV, or a spreadsheet as .xlsx")
        parser.add_argument(
            "--client", type=not_empty, required=True, metavar="CLIENT", help="name or key of the API client"
        )
        parser.add_argument("--template", type=text, metavar="NAME|FILE", help="what the columns are")
        parser.add_argument(
            "--resource",
            type=text,
            metavar="ENDPOINT",
            help="the resource of the rows, such as students, without a template, or of which one in its file is taken",
        )
        parser.add_argument(
            "--sheet", type=text, default="", metavar="NAME", help="of a spreadsheet; default: the first"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would become of each row; nothing is written"
        )
        parser.add_argument("--report", type=path, metavar="FILE", help="write what became of each row as CSV")
        add_max_refused(parser)

    def handle(self, *args: Any, file: Path, client: str, database: str, **options: Any) -> None:
        found = client_named(client)
        store = _data_store(database)
        table = open_table(_content(file), options["sheet"])
        read = self._template(table, options["template"], options["resource"])
        for note in (*table.header.notes, *read.left_out):
            self.stderr.write(printable(note))
        counts: Counter[str] = Counter()
        with database_of(found.pk, store) as leased:
            resource = read.template.of(current_surface())
            words = DescriptorWords(leased.using)
            mapping = TableMapping(read.template, Members(resource), table.header, words)
            loader = Loader(resource, mapping, found.pk, leased.using, store, is_dry_run=options["dry_run"])
            results = self._show(loader, mapping, table, counts)
            if options["report"]:
                _write_report(options["report"], results)
            else:
                for _ in results:
                    pass
        self.stdout.write(", ".join(f"{counts[outcome]:,} {outcome}" for outcome in OUTCOMES))
        if options["dry_run"]:
            self.stdout.write("dry run: nothing was written")
        if not counts.total():
            raise CommandError("There are no rows in the table.")
        if not options["max_refused"].allows(counts[REFUSED], counts.total()):
            raise CommandError(f"{counted(counts[REFUSED], 'row')} of {counts.total():,} refused")

    def _template(self, table: Table, named: str | None, resource: str | None) -> ReadTemplate:
        """Raises InvalidTemplate, ResourceNotServed."""
        wanted = resource_called(current_surface(), resource) if resource else None
        if not named:
            if wanted is None:
                raise CommandError("Say what the rows are: --template, or --resource if the headers are members.")
            return ReadTemplate(template_of_headers(table.header, wanted))
        try:
            found = templates_named(named)
        except OSError as error:
            raise CommandError(f"{printable(named)}: {error.strerror or error}") from error
        matching = [each for each in found if wanted is None or each.template.of(current_surface()) is wanted]
        if len(matching) != 1:
            listed = ", ".join(each.template.resource for each in found)
            raise CommandError(f"The file has templates of {printable(listed)}: say which by --resource.")
        return matching[0]

    def _show(self, loader: Loader, mapping: TableMapping, table: Table, counts: Counter[str]) -> Iterator[RowResult]:
        """Count the results as they are taken, and list the first refused rows."""
        with tqdm(unit=" rows", disable=None) as progress:
            for results in loader.results(mapping.documents(table.rows())):
                for each in results:
                    if each.outcome != LEFT_OUT:
                        counts[each.outcome] += 1
                    if each.outcome == LEFT_OUT or (each.outcome == REFUSED and counts[REFUSED] <= _SHOWN):
                        for problem in each.problems:
                            self.stderr.write(printable(problem_text(problem)))
                    yield each
                progress.update(len(results))
        if counts[REFUSED] > _SHOWN:
            self.stderr.write(f"and {counted(counts[REFUSED] - _SHOWN, 'more row')}; --report FILE has each of them")


def _content(file: Path) -> bytes:
    """Raises CommandError."""
    try:
        with file.open("rb") as opened:
            content = opened.read(api_settings.TABLE_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{printable(file)}: {error.strerror or error}") from error
    if len(content) > api_settings.TABLE_BYTES:
        raise CommandError(
            f"{printable(file)} is longer than MEADOWLARK_TABLE_BYTES, {api_settings.TABLE_BYTES:,} bytes."
        )
    return content


def _data_store(database: str) -> int:
    """The id of the data store with this alias; 0 for the admin database."""
    if database == DEFAULT_DB_ALIAS:
        return 0
    return next(store.id for store in read_table().stores.values() if alias_of(store.primary) == database)


def _write_report(file: Path, results: Iterable[RowResult]) -> None:
    """Raises CommandError."""
    try:
        with file.open("wb") as opened, closing(csv_file(COLUMNS, report_rows(results))) as text:
            text.seek(0)
            while block := text.read(2**16):
                opened.write(block)
    except OSError as error:
        raise CommandError(f"{printable(file)}: {error.strerror or error}") from error

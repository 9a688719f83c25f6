"""`manage.py export_refusals`"""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_date

from edfi_api.common.logs import audit
from edfi_api.core.queries.csv_text import csv_blocks
from edfi_api.core.security.models import ApiClient
from edfi_api.features.refusals.export import COLUMNS, exported_rows
from edfi_api.features.refusals.models import Refusal

_FORMATS = ("csv", "jsonl")


class Command(BaseCommand):
    help = (
        "Writes the ledger of refusals as CSV or JSON Lines to standard output, with natural keys: see the audit log."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=_FORMATS, default="csv", help="csv (default) or jsonl")
        parser.add_argument("--client", help="only the client of this name or key")
        parser.add_argument("--since", help="only refusals that occurred last on this day or later: 2026-11-22")

    def handle(self, *args: Any, **options: Any) -> None:
        entries = Refusal.objects.order_by("id")
        if options["client"]:
            entries = entries.filter(client__in=_clients(options["client"]))
        if options["since"]:
            entries = entries.filter(last_at__gte=_day(options["since"]))
        audit.log_change("refusals exported", by="command")
        rows = exported_rows(entries)
        if options["format"] == "csv":
            for block in csv_blocks(COLUMNS, rows):
                self.stdout.write(block.decode(), ending="")
            return
        for row in rows:
            self.stdout.write(orjson.dumps(dict(zip(COLUMNS, row, strict=True))).decode())


def _clients(named: str) -> list[int]:
    named = named.replace("\0", "\ufffd")
    found = ApiClient.objects.filter(name=named) | ApiClient.objects.filter(client_id=named)
    rows = list(found.values_list("pk", flat=True))
    if not rows:
        raise CommandError(f'There is no client "{named}".')
    return rows


def _day(text: str) -> datetime:
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise CommandError(f"--since: {text!r} is not a day such as 2026-11-22.")
    return datetime(day.year, day.month, day.day, tzinfo=UTC)

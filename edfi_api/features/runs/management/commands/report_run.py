"""`manage.py report_run --client KEY`: what a client has sent and read, and what was refused."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.common.commands import name, timestamp
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.core.security.management.named_client import client_named
from edfi_api.features.runs.report import report_of, report_text


class Command(BaseCommand):
    help = (
        "Reports what an API client has done in its last run, which began after half an hour of silence, or between "
        "two times, to the minute: writes by resource, refusals with their causes, reads, rates and times, and the "
        "environment. Requests are in it two seconds after their answers."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--client", type=name, required=True, help="key or name of the client")
        parser.add_argument("--since", type=timestamp, metavar="TIME", help="2027-07-01, or with a time; UTC")
        parser.add_argument("--until", type=timestamp, metavar="TIME", help="likewise")
        parser.add_argument("--format", choices=["text", "json"], default="text", help="of the report (default text)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not api_settings.RUN_DAYS:
            raise CommandError("Nothing is counted: MEADOWLARK_RUN_DAYS is 0.")
        client = client_named(options["client"])
        report = report_of(client, since=options["since"], until=options["until"])
        audit.log_change("run reported", client=client.client_id, by="command")
        as_text = report_text if options["format"] == "text" else json.dumps
        self.stdout.write(as_text(report))

"""`manage.py generate_demo_district --output district/`, `... | manage.py load_documents -`"""

import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from edfi_api.common.commands import ReportingCommand, day, integer, not_empty
from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import counted
from edfi_api.core.documents import json_text
from edfi_api.core.served import current_surface
from edfi_api.features.loading.demo_district import FEWEST_STUDENTS, MOST_STUDENTS, District, generate
from edfi_api.features.loading.exceptions import ERRORS_OF_JSON_LINES
from edfi_api.features.loading.json_lines.exporting import WriteResource, write_to_folder, write_to_stream
from edfi_api.model.examples import Bodies
from edfi_api.model.surface.bundled_descriptors import bundled_values
from edfi_api.model.surface.resource import Surface

STUDENTS = 2000
_STANDARD_OUTPUT = "-"


class Command(ReportingCommand):
    error_texts = ERRORS_OF_JSON_LINES
    help = (
        "Writes a made-up school district as JSON Lines that load_documents reads: a school year of enrollment, "
        "classes, attendance and grades, with some deliberate errors in the data. The same seed and day give "
        "the same district. No real person or organization is in it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--output",
            type=not_empty,
            default=_STANDARD_OUTPUT,
            metavar="FOLDER",
            help="default: -, standard output",
        )
        parser.add_argument(
            "--students",
            type=integer(FEWEST_STUDENTS, MOST_STUDENTS),
            default=STUDENTS,
            metavar="N",
            help=f"default: {STUDENTS}",
        )
        parser.add_argument(
            "--today",
            type=day,
            default=None,
            metavar="DAY",
            help="the day in the school year that it is; default: today",
        )
        parser.add_argument("--seed", type=integer(0, 2**31), default=1, metavar="N", help="default: 1")

    def handle(self, *args: Any, output: str, students: int, seed: int, today: date | None, **options: Any) -> None:
        surface = current_surface()
        values = list(bundled_values(api_settings.data_standard))
        if not values:
            raise CommandError("The data standard comes without descriptor values, which the district is made with.")
        district = generate(Bodies(surface, values), students, seed, today or timezone.localdate())
        with _writer(output, surface) as write:
            _write(district, surface, write)
        count = sum(map(len, district.bodies.values()))
        self.stderr.write(f"demo district: {counted(count, 'document')} of {counted(len(district.bodies), 'resource')}")
        if district.left_out:
            self.stderr.write(f"left out, because the standard does not have them: {', '.join(district.left_out)}")


def _writer(output: str, surface: Surface) -> AbstractContextManager[WriteResource]:
    if output == _STANDARD_OUTPUT:
        return write_to_stream(sys.stdout.buffer)
    return write_to_folder(Path(output), surface.resources)


def _write(district: District, surface: Surface, write: WriteResource) -> None:
    for name, bodies in district.bodies.items():
        write(surface.by_name[name], [[json_text.dumps(body).decode() for body in bodies]])

"""`manage.py load_school_years 1990-2040 --current 2026`

Writes documents for a range of school years, one of which is the current one.
"""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import integer
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.served import current_surface
from edfi_api.features.loading.bulk import Candidate
from edfi_api.features.loading.interchange.loading import load_candidates
from edfi_api.features.loading.reports.report import RefusalLimit, RefusalLog, add_max_refused, counts, raise_failure
from edfi_api.features.loading.reports.results import LoadResult
from edfi_api.model.surface.resource import ResourceKind, Surface


def year_range(text: str) -> range:
    """`1990-2040` or a single year."""
    match = re.fullmatch(r"(\d{4})(?:-(\d{4}))?", text)
    if match is None:
        raise ArgumentTypeError(f"{text!r} is not a year or a range of years such as 1990-2040")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise ArgumentTypeError(f"{text!r} ends before it begins")
    return range(first, last + 1)


class Command(DataStoreCommand):
    help = (
        "Creates or updates a range of school years; a repeated run changes only what differs. The exit status is 1, "
        "after the rest is written, if more documents were refused than --max-refused allows."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("years", type=year_range, help="first and last year, such as 1990-2040")
        parser.add_argument("--current", type=integer(1, 9999), required=True, help="the current school year")
        add_max_refused(parser)

    def handle(
        self, *args: Any, years: range, current: int, max_refused: RefusalLimit, database: str, **options: Any
    ) -> None:
        if current not in years:
            raise CommandError(f"the current school year {current} is not in {years.start}-{years.stop - 1}")
        result = LoadResult()
        with RefusalLog(self.stderr) as log:
            load_candidates(school_year_documents(current_surface(), years, current), result, log, database)
        self.stdout.write(f"school years: {counts(result)}")
        raise_failure(result, 0, max_refused)


def school_year_documents(surface: Surface, years: range, current: int) -> Iterator[Candidate[str]]:
    """A candidate for each year; none if the data standard has no school years.

    A school year is numbered after the calendar year in which it ends: 2026 is 2025-2026.
    """
    resource = next((resource for resource in surface.resources if resource.kind is ResourceKind.SCHOOL_YEAR), None)
    if resource is None:
        return
    for year in years:
        body = {
            "schoolYear": year,
            "currentSchoolYear": year == current,
            "schoolYearDescription": f"{year - 1}-{year}",
        }
        yield Candidate.of(resource, body, f"school year {year}")

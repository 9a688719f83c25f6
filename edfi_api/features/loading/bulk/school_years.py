"""Documents for a range of school years, one of which is the current one."""

from collections.abc import Iterator

from edfi_api.features.loading.bulk import Candidate
from edfi_api.model.surface.resource import Resource, ResourceKind, Surface


def school_year_documents(surface: Surface, years: range, current: int) -> Iterator[Candidate[str]]:
    """A candidate for each year; none if the data standard has no school years.

    A school year is numbered after the calendar year in which it ends: 2026 is 2025-2026.
    """
    resource = _school_year_resource(surface)
    if resource is None:
        return
    for year in years:
        body = {
            "schoolYear": year,
            "currentSchoolYear": year == current,
            "schoolYearDescription": f"{year - 1}-{year}",
        }
        yield Candidate.of(resource, body, f"school year {year}")


def _school_year_resource(surface: Surface) -> Resource | None:
    return next((resource for resource in surface.resources if resource.kind is ResourceKind.SCHOOL_YEAR), None)

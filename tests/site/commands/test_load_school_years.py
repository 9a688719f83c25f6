"""`manage.py load_school_years`."""

import io
from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command

from edfi_api.core.models import Document
from edfi_api.features.loading.bulk import Candidate
from edfi_api.features.loading.management.commands import load_school_years
from edfi_api.features.loading.management.commands.load_school_years import school_year_documents
from edfi_api.model.surface.resource import ResourceName, Surface

pytestmark = pytest.mark.django_db


def load(*arguments: str) -> tuple[str, str, str]:
    """Standard output, standard error and the message of the CommandError."""
    out, err, failure = io.StringIO(), io.StringIO(), ""
    try:
        call_command("load_school_years", *arguments, stdout=out, stderr=err, no_color=True)
    except CommandError as error:
        failure = str(error)
    return out.getvalue(), err.getvalue(), failure


def years() -> list[int]:
    documents = Document.objects.filter(resource_type__name="SchoolYearType")
    return sorted(documents.values_list("body__schoolYear", flat=True))


def test_a_repeated_load_changes_only_the_current_year() -> None:
    first = load("2025-2027", "--current", "2026")
    second = load("2025-2027", "--current", "2027")

    assert years() == [2025, 2026, 2027]
    assert first == ("school years: 3 created, 0 updated, 0 unchanged, 0 refused\n", "", "")
    assert second == ("school years: 0 created, 2 updated, 1 unchanged, 0 refused\n", "", "")


@pytest.fixture
def a_year_without_description(monkeypatch) -> None:
    """Added to the range, since no document that the command makes is refused."""

    def documents(surface: Surface, years: range, current: int) -> Iterator[Candidate[str]]:
        yield from school_year_documents(surface, years, current)
        resource = surface.by_name[ResourceName("Ed-Fi", "SchoolYearType")]
        yield Candidate.of(resource, {"schoolYear": 2030, "currentSchoolYear": False}, "school year 2030")

    monkeypatch.setattr(load_school_years, "school_year_documents", documents)


@pytest.mark.usefixtures("a_year_without_description")
def test_refused_years_are_listed_and_fail_the_command() -> None:
    out, err, failure = load("2025-2026", "--current", "2026")

    assert years() == [2025, 2026]
    assert out == "school years: 2 created, 0 updated, 0 unchanged, 1 refused, see the list above\n"
    assert err == ("school year 2030: SchoolYearType: $.schoolYearDescription: schoolYearDescription is required.\n")
    assert failure == "1 of 3 documents refused, more than --max-refused 0"


@pytest.mark.usefixtures("a_year_without_description")
def test_refused_years_can_be_allowed() -> None:
    out, _, failure = load("2025-2026", "--current", "2026", "--max-refused", "34%")

    assert (out, failure) == ("school years: 2 created, 0 updated, 0 unchanged, 1 refused, see the list above\n", "")

"""Query parameters of properties merged into others, in a typical extension."""

from collections.abc import Iterator

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.served import compilation_of
from edfi_api.model.surface.resource import ResourceName
from tests.model.surface.models import write_project
from tests.support.serving import Served

EXTENSION = """
Domain Entity Mark
  association EdFi.StudentSectionAssociation is part of identity
  domain entity EdFi.GradingPeriod is part of identity role name Marking
    merge MarkingGradingPeriod.School with StudentSectionAssociation.Section.CourseOffering.School
    merge MarkingGradingPeriod.SchoolYear with StudentSectionAssociation.Section.CourseOffering.Session.SchoolYear
Domain Entity Transfer
  domain entity EdFi.Student is part of identity
  association EdFi.StudentSchoolAssociation is part of identity role name Prior
    merge PriorStudentSchoolAssociation.Student.StudentUniqueId with Student.StudentUniqueId
"""


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Served:
    extension = write_project(tmp_path_factory.mktemp("extensions") / "marks", "Marks", EXTENSION, "1.0.0")
    return Served("marks", compilation_of([BUNDLED_STANDARDS / "5.2", extension], None))


@pytest.fixture(scope="module")
def validators(marks: Served) -> DocumentValidators:
    return marks.validators


@pytest.fixture
def api_without_check(marks: Served, api_without_check) -> Iterator:
    with marks.instead():
        yield api_without_check


def stored(marks: Served, name: str) -> dict:
    """Stores the minimal document and returns its body."""
    resource = marks.surface.by_name[ResourceName("Marks", name)]
    marks.documents.store(resource)
    return marks.documents.minimal_body(resource)


def test_a_merged_school_year_is_a_query_field(api, marks: Served) -> None:
    year = stored(marks, "Mark")["markingGradingPeriodReference"]["schoolYear"]

    assert len(api.get(f"/data/marks/marks?markingSchoolYear={year}").json()) == 1
    assert api.get(f"/data/marks/marks?markingSchoolYear={year + 1}").json() == []
    assert api.get("/data/marks/marks?markingSchoolId=1").status_code == 400


def test_a_merged_unique_id_is_a_query_field(api, marks: Served) -> None:
    student = stored(marks, "Transfer")["priorStudentSchoolAssociationReference"]["studentUniqueId"]

    assert len(api.get(f"/data/marks/transfers?priorStudentUniqueId={student}").json()) == 1
    assert api.get("/data/marks/transfers?priorStudentUniqueId=nobody").json() == []

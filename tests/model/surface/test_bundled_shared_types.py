"""Shared types of the bundled standards that extensions of states use."""

from pathlib import Path

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.model.metaed.compiler import check_projects, compile_projects
from edfi_api.model.surface.builder import build_surface
from tests.model.surface.models import named, write_project

EXTENSION = """
Domain Entity Camp
  integer CampId is part of identity
  shared string EdFi.StreetNumberName is required
  shared string EdFi.ApartmentRoomSuiteNumber is optional
  shared string EdFi.BuildingSiteNumber is optional
  shared string EdFi.NameOfCounty is optional
  shared string EdFi.CountyFIPSCode is optional
  shared string EdFi.AssessmentTitle is optional
  shared string EdFi.Comment is optional
  shared string EdFi.ContactTitle is optional
  shared string EdFi.LicensingOrganization is optional
  shared integer EdFi.Capacity is optional
  shared decimal EdFi.EventDuration is optional
"""
LENGTHS = {
    "3.3.1-b": {
        "streetNumberName": (1, 150),
        "apartmentRoomSuiteNumber": (1, 50),
        "buildingSiteNumber": (1, 20),
        "nameOfCounty": (1, 30),
        "countyFIPSCode": (3, 5),
        "assessmentTitle": (1, 100),
        "comment": (1, 1024),
        "contactTitle": (1, 75),
        "licensingOrganization": (1, 75),
    },
    "4.0": {
        "streetNumberName": (1, 150),
        "apartmentRoomSuiteNumber": (1, 50),
        "buildingSiteNumber": (1, 20),
        "nameOfCounty": (1, 30),
        "countyFIPSCode": (3, 5),
        "assessmentTitle": (1, 255),
        "comment": (1, 1024),
        "contactTitle": (1, 75),
        "licensingOrganization": (1, 75),
    },
    "5.2": {
        "streetNumberName": (None, 150),
        "apartmentRoomSuiteNumber": (None, 50),
        "buildingSiteNumber": (None, 20),
        "nameOfCounty": (None, 30),
        "countyFIPSCode": (3, 5),
        "assessmentTitle": (None, 255),
        "comment": (None, 1024),
        "contactTitle": (None, 75),
        "licensingOrganization": (None, 75),
    },
}


@pytest.mark.long
@pytest.mark.parametrize("standard", ["3.3.1-b", "4.0", "5.2", "6.1"])
def test_an_extension_can_refer_to_those_that_stand_as_plain_properties(tmp_path: Path, standard: str) -> None:
    award = """
Domain Entity Award
  shared string EdFi.HonorDescription is part of identity
"""
    extension = write_project(tmp_path / "award", "Award", award, "1.0.0")

    resource = named(build_surface(compile_projects([BUNDLED_STANDARDS / standard, extension])), "Award", "Award")

    assert resource.json_schema["properties"]["honorDescription"]["maxLength"] == 80


@pytest.mark.long
@pytest.mark.parametrize("standard", ["5.2", "6.1"])
def test_a_former_name_is_reported_with_the_one_that_it_has_now(tmp_path: Path, standard: str) -> None:
    text = """
Domain Entity EdFi.Parent additions
  string Hobby is optional
  string LoginId is optional
"""
    extension = write_project(tmp_path / "club", "Club", text, "1.0.0")

    _, problems = check_projects([BUNDLED_STANDARDS / standard, extension])

    assert [each.message for each in problems] == [
        "there is no domain entity 'Parent' in EdFi; it has become 'Contact'",
        "'Parent' has a property 'LoginId' already",
    ]


@pytest.mark.parametrize("standard", LENGTHS)
def test_an_extension_can_refer_to_them(tmp_path: Path, standard: str) -> None:
    extension = write_project(tmp_path / "camp", "Camp", EXTENSION, "1.0.0")

    camp = named(build_surface(compile_projects([BUNDLED_STANDARDS / standard, extension])), "Camp", "Camp")

    members = camp.json_schema["properties"]
    assert {
        name: (member.get("minLength"), member["maxLength"])
        for name, member in members.items()
        if member["type"] == "string"
    } == LENGTHS[standard]
    assert (members["capacity"]["type"], members["capacity"]["format"]) == ("integer", "int32")
    assert [(str(d.path), d.total_digits, d.decimal_places) for d in camp.decimals] == [("$.eventDuration", 3, 2)]

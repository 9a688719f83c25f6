"""The description of a surface, and the command that prints it."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from edfi_api.model.surface.describe import describe, table
from edfi_api.model.surface.resource import Surface
from tests.model.surface.models import SurfaceOf

CORE = """
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Plan
  string PlanCode is part of identity min length 2 max length 9
  domain entity Program is part of identity
  decimal Share is optional total digits 5 decimal places 4
  bool Old deprecated "No longer used." is optional
  common Stop is required collection
Common Stop
  domain entity School is part of identity
  time Arrival is optional
Domain Entity Program
  descriptor ProgramType is part of identity
Descriptor ProgramType
"""


@pytest.fixture
def small_surface(surface_of: SurfaceOf) -> Surface:
    return surface_of(CORE)


def test_every_path_is_described_with_its_facts(small_surface: Surface) -> None:
    plan = next(resource for resource in describe(small_surface)["resources"] if resource["endpoint"] == "plans")

    assert plan == {
        "project": "ed-fi",
        "endpoint": "plans",
        "resourceName": "Plan",
        "isDescriptor": False,
        "deprecated": False,
        "identityPaths": ["$.planCode", "$.programReference.programTypeDescriptor"],
        "paths": {
            "$.planCode": {"type": "string", "minLength": 2, "maxLength": 9, "isIdentity": True, "required": True},
            "$.programReference": {"type": "object", "referenceTo": "Program", "required": True},
            "$.programReference.programTypeDescriptor": {
                "type": "string",
                "maxLength": 306,
                "isDescriptor": True,
                "descriptor": "ProgramTypeDescriptor",
                "isIdentity": True,
                "required": True,
            },
            "$.share": {"type": "number", "format": "double", "precision": 5, "scale": 4, "required": False},
            "$.old": {"type": "boolean", "deprecated": True, "required": False},
            "$.stops": {"type": "array", "minItems": 1, "itemKey": ["schoolReference.schoolId"], "required": True},
            "$.stops[*].schoolReference": {"type": "object", "referenceTo": "School", "required": True},
            "$.stops[*].schoolReference.schoolId": {"type": "integer", "format": "int32", "required": True},
            "$.stops[*].arrival": {"type": "string", "format": "time", "required": False},
        },
        "queryParameters": ["planCode", "programTypeDescriptor", "old", "share"],
    }


def test_a_reference_to_an_abstract_resource_without_subclasses_is_described(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
Domain Entity Course
  string CourseCode is part of identity
  domain entity EducationOrganization is part of identity
""")

    (course,) = describe(surface)["resources"]

    assert course["paths"]["$.educationOrganizationReference"]["referenceTo"] == "EducationOrganization"


def test_the_table_has_a_line_for_each_resource_and_a_total(small_surface: Surface) -> None:
    assert list(table(small_surface)) == [
        "/ed-fi/programTypeDescriptors  ProgramTypeDescriptor  namespace, codeValue",
        "/ed-fi/schools                 School                 schoolId",
        "/ed-fi/programs                Program                programTypeDescriptor",
        "/ed-fi/plans                   Plan                   planCode, programReference.programTypeDescriptor",
        "Ed-Fi 5.2.0: 3 resources and 1 descriptors",
    ]


def test_the_command_prints_json() -> None:
    out = StringIO()

    call_command("describe_surface", "--format", "json", stdout=out)

    resources = {resource["endpoint"]: resource for resource in json.loads(out.getvalue())["resources"]}
    assert resources["students"]["identityPaths"] == ["$.studentUniqueId"]


def test_the_command_prints_a_table() -> None:
    out = StringIO()

    call_command("describe_surface", stdout=out)

    assert "/ed-fi/students " in out.getvalue()

"""Descriptors and school years, which are the same in every model."""

import pytest

from edfi_api.model.surface.resource import QueryType, ResourceKind, ResourceName
from tests.model.surface.json_schema import validator
from tests.model.surface.models import SurfaceOf, named, texts

CORE = """
Descriptor GradeLevel
Enumeration SchoolYear
  item "2025-2026"
"""


def test_a_descriptor_is_identified_by_namespace_and_code(surface_of: SurfaceOf) -> None:
    resource = named(surface_of(CORE), "GradeLevelDescriptor")

    assert resource.kind is ResourceKind.DESCRIPTOR
    assert resource.url_path == "/ed-fi/gradeLevelDescriptors"
    assert texts(resource.identity) == ["$.namespace", "$.codeValue"]
    assert texts(resource.securable_elements.namespace) == ["$.namespace"]
    assert {field.name: field.type for field in resource.query_fields} == {
        "id": QueryType.STRING,
        "codeValue": QueryType.STRING,
        "description": QueryType.STRING,
        "effectiveBeginDate": QueryType.DATE,
        "effectiveEndDate": QueryType.DATE,
        "namespace": QueryType.STRING,
        "shortDescription": QueryType.STRING,
    }


def test_a_complete_descriptor_is_valid(surface_of: SurfaceOf) -> None:
    schema = named(surface_of(CORE), "GradeLevelDescriptor").json_schema
    body = {
        "namespace": "uri://ed-fi.org/GradeLevelDescriptor",
        "codeValue": "Ninth grade",
        "shortDescription": "Ninth grade",
        "description": "The ninth grade.",
        "effectiveBeginDate": "2026-01-05",
        "effectiveEndDate": "2026-12-31",
    }

    assert validator(schema).is_valid(body)


@pytest.mark.parametrize(
    "change",
    [{"codeValue": "x" * 51}, {"codeValue": " x"}, {"codeValue": "x "}, {"namespace": ""}, {"priorDescriptorId": 1}],
)
def test_a_descriptor_with_one_error_is_invalid(surface_of: SurfaceOf, change: dict) -> None:
    schema = named(surface_of(CORE), "GradeLevelDescriptor").json_schema
    body = {"namespace": "uri://ed-fi.org/GradeLevelDescriptor", "codeValue": "9", "shortDescription": "9"}

    assert validator(schema).is_valid(body)
    assert not validator(schema).is_valid({**body, **change})


def test_school_years_are_a_resource_if_the_core_declares_them(surface_of: SurfaceOf) -> None:
    resource = named(surface_of(CORE), "SchoolYearType")

    assert resource.kind is ResourceKind.SCHOOL_YEAR
    assert resource.name == ResourceName("Ed-Fi", "SchoolYearType")
    assert resource.endpoint == "schoolYearTypes"
    assert texts(resource.identity) == ["$.schoolYear"]
    assert resource.json_schema["required"] == ["currentSchoolYear", "schoolYear", "schoolYearDescription"]
    assert [field.name for field in resource.query_fields] == [
        "id",
        "schoolYear",
        "currentSchoolYear",
        "schoolYearDescription",
    ]


def test_a_collection_of_school_years_has_references(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE
        + """
Domain Entity Plan
  string PlanCode is part of identity
  enumeration SchoolYear is required collection
"""
    )
    plan = named(surface, "Plan")

    assert validator(plan.json_schema).is_valid(
        {"planCode": "A", "schoolYears": [{"schoolYearTypeReference": {"schoolYear": 2026}}]}
    )
    assert texts(r.path for r in plan.references) == ["$.schoolYears[*].schoolYearTypeReference"]
    assert texts(plan.array_uniqueness[0].item_paths) == ["$.schoolYearTypeReference.schoolYear"]

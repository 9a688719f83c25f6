"""Reading files of the original Meadowlark, which describe a part of a surface."""

from collections.abc import Callable
from typing import Any

import pytest

from edfi_api.model.apischema.errors import ApiSchemaError
from edfi_api.model.surface.resource import KeyPair, QueryField, QueryType, ResourceName, Superclass, Surface
from tests.apischema.conftest import changed
from tests.apischema.official import DESCRIPTOR_SCHEMA, NUMBER, TEXT, URI, schema
from tests.surface.models import named, texts
from tests.surface.paths import path

ANYTHING = {"type": "object", "additionalProperties": True, "properties": {}}


def resource(name: str, **members: Any) -> dict[str, Any]:
    return {
        "resourceName": name,
        "isDescriptor": False,
        "isSchoolYearEnumeration": False,
        "isSubclass": False,
        "allowIdentityUpdates": False,
        "equalityConstraints": [],
        "documentPathsMapping": {},
        "identityFullnames": [],
        "identityPathOrder": [],
        **members,
    }


def scalar(name: str) -> dict[str, Any]:
    return {"isReference": False, "paths": {name: f"$.{name}"}, "pathOrder": [name]}


def reference(target: str, **paths: str) -> dict[str, Any]:
    return {
        "isReference": True,
        "isDescriptor": False,
        "projectName": "Ed-Fi",
        "resourceName": target,
        "paths": paths,
        "pathOrder": sorted(paths),
    }


OLD: dict[str, Any] = {
    "projectNameMapping": {"Ed-Fi": "ed-fi"},
    "projectSchemas": {
        "ed-fi": {
            "projectName": "Ed-Fi",
            "projectVersion": "5.0.0",
            "isExtensionProject": False,
            "description": "Old",
            "abstractResources": {"EducationOrganization": {"identityPathOrder": ["educationOrganizationId"]}},
            "resourceNameMapping": {"Term": "termDescriptors"},
            "resourceSchemas": {
                "schools": resource(
                    "School",
                    isSubclass=True,
                    subclassType="domainEntity",
                    superclassProjectName="Ed-Fi",
                    superclassResourceName="EducationOrganization",
                    superclassIdentityDocumentKey="educationOrganizationId",
                    subclassIdentityDocumentKey="schoolId",
                    jsonSchemaForInsert=schema({"schoolId": NUMBER, "_ext": ANYTHING}, "schoolId"),
                    jsonSchemaForQuery=schema({"schoolId": NUMBER, "addresses": {"type": "array"}}),
                    identityFullnames=["SchoolId"],
                    documentPathsMapping={"SchoolId": scalar("schoolId")},
                ),
                "sessions": resource(
                    "Session",
                    jsonSchemaForInsert=schema(
                        {
                            "sessionName": TEXT,
                            "termDescriptor": URI,
                            "beginDate": {"type": "string", "format": "date"},
                            "schoolReference": schema({"schoolId": NUMBER}, "schoolId"),
                            "_ext": ANYTHING,
                        },
                        "sessionName",
                        "schoolReference",
                        "termDescriptor",
                    ),
                    jsonSchemaForQuery=schema(
                        {"beginDate": {"type": "string", "format": "date"}, "termDescriptor": URI}
                    ),
                    identityFullnames=["School", "SessionName"],
                    documentPathsMapping={
                        "School": reference("School", schoolId="$.schoolReference.schoolId"),
                        "SessionName": scalar("sessionName"),
                        "Term": {
                            "isReference": True,
                            "isDescriptor": True,
                            "projectName": "Ed-Fi",
                            "resourceName": "TermDescriptor",
                            "paths": {"termDescriptor": "$.termDescriptor"},
                            "pathOrder": ["termDescriptor"],
                        },
                    },
                ),
                "courseOfferings": resource(
                    "CourseOffering",
                    jsonSchemaForInsert=schema(
                        {
                            "localCourseCode": TEXT,
                            "schoolReference": schema({"schoolId": NUMBER}, "schoolId"),
                            "sessionReference": schema(
                                {"schoolId": NUMBER, "sessionName": TEXT}, "schoolId", "sessionName"
                            ),
                        },
                        "localCourseCode",
                        "schoolReference",
                        "sessionReference",
                    ),
                    identityFullnames=["LocalCourseCode", "School", "Session"],
                    documentPathsMapping={
                        "LocalCourseCode": scalar("localCourseCode"),
                        "School": reference("School", schoolId="$.schoolReference.schoolId"),
                        "Session": reference(
                            "Session",
                            schoolId="$.sessionReference.schoolId",
                            sessionName="$.sessionReference.sessionName",
                        ),
                    },
                ),
                "sections": resource(
                    "Section",
                    jsonSchemaForInsert=schema(
                        {
                            "sectionIdentifier": TEXT,
                            "courseOfferingReference": schema(
                                {"localCourseCode": TEXT, "schoolId": NUMBER, "sessionName": TEXT}
                            ),
                        },
                        "sectionIdentifier",
                    ),
                    identityFullnames=["SectionIdentifier"],
                    documentPathsMapping={
                        "SectionIdentifier": scalar("sectionIdentifier"),
                        "CourseOffering": reference(
                            "CourseOffering",
                            localCourseCode="$.courseOfferingReference.localCourseCode",
                            schoolId="$.courseOfferingReference.schoolId",
                            sessionName="$.courseOfferingReference.sessionName",
                        ),
                    },
                ),
                "termDescriptors": resource("TermDescriptor", isDescriptor=True, jsonSchemaForInsert=DESCRIPTOR_SCHEMA),
            },
        }
    },
}


@pytest.fixture
def surface(surface_of_files: Callable[..., Surface]) -> Surface:
    return surface_of_files(OLD)


def test_all_resources_have_their_endpoints(surface: Surface) -> None:
    assert [resource.url_path for resource in surface.resources] == [
        "/ed-fi/schools",
        "/ed-fi/termDescriptors",
        "/ed-fi/sessions",
        "/ed-fi/courseOfferings",
        "/ed-fi/sections",
    ]
    assert surface.core_project.package_name == "ed-fi-model-5.0"


def test_the_identity_is_combined_from_the_paths_of_its_parts(surface: Surface) -> None:
    assert texts(named(surface, "CourseOffering").identity) == [
        "$.localCourseCode",
        "$.schoolReference.schoolId",
        "$.sessionReference.schoolId",
        "$.sessionReference.sessionName",
    ]


def test_a_value_of_a_reference_is_paired_with_all_values_of_its_name_in_the_target(surface: Surface) -> None:
    (offering,) = named(surface, "Section").references

    assert [(str(pair.here), str(pair.there)) for pair in offering.identity] == [
        ("$.courseOfferingReference.localCourseCode", "$.localCourseCode"),
        ("$.courseOfferingReference.schoolId", "$.schoolReference.schoolId"),
        ("$.courseOfferingReference.schoolId", "$.sessionReference.schoolId"),
        ("$.courseOfferingReference.sessionName", "$.sessionReference.sessionName"),
    ]


def with_graduation_plans(**members: str) -> dict[str, Any]:
    """The project with a graduation plan, identified by a school year with a role and a session, and a referrer."""
    year = schema({"schoolYear": NUMBER}, "schoolYear")
    session = schema({"schoolId": NUMBER, "sessionName": TEXT, "schoolYear": NUMBER}, "schoolId")
    plan = resource(
        "GraduationPlan",
        jsonSchemaForInsert=schema({"graduationSchoolYearTypeReference": year, "sessionReference": session}),
        identityFullnames=["GraduationSchoolYear", "Session"],
        documentPathsMapping={
            "GraduationSchoolYear": {
                "isReference": False,
                "paths": {"schoolYear": "$.graduationSchoolYearTypeReference.schoolYear"},
                "pathOrder": ["schoolYear"],
            },
            "Session": reference(
                "Session", **{name: f"$.sessionReference.{name}" for name in ("schoolId", "sessionName")}
            ),
            "OtherYear": {
                "isReference": False,
                "paths": {"schoolYear": "$.sessionReference.schoolYear"},
                "pathOrder": ["schoolYear"],
            },
        },
    )
    plan["identityFullnames"] += ["OtherYear"] if "schoolYear" in members else []
    student = resource(
        "StudentSchoolAssociation",
        jsonSchemaForInsert=schema(
            {"studentCode": TEXT, "graduationPlanReference": schema(dict.fromkeys(members, TEXT))}, "studentCode"
        ),
        identityFullnames=["StudentCode"],
        documentPathsMapping={
            "StudentCode": scalar("studentCode"),
            "GraduationPlan": reference("GraduationPlan", **members),
        },
    )
    schemas = OLD["projectSchemas"]["ed-fi"]["resourceSchemas"]
    added = schemas | {"graduationPlans": plan, "studentSchoolAssociations": student}
    return changed(OLD, "projectSchemas/ed-fi/resourceSchemas", added)


def pairs_of(surface: Surface) -> list[tuple[str, str]]:
    (plan,) = named(surface, "StudentSchoolAssociation").references
    return [(str(pair.here), str(pair.there)) for pair in plan.identity]


def test_a_member_of_a_reference_may_have_a_role_that_the_target_omits(
    surface_of_files: Callable[..., Surface],
) -> None:
    surface = surface_of_files(
        with_graduation_plans(
            graduationSchoolYear="$.graduationPlanReference.graduationSchoolYear",
            schoolId="$.graduationPlanReference.schoolId",
            sessionName="$.graduationPlanReference.sessionName",
        )
    )

    assert pairs_of(surface) == [
        ("$.graduationPlanReference.graduationSchoolYear", "$.graduationSchoolYearTypeReference.schoolYear"),
        ("$.graduationPlanReference.schoolId", "$.sessionReference.schoolId"),
        ("$.graduationPlanReference.sessionName", "$.sessionReference.sessionName"),
    ]


def test_a_value_with_a_role_differs_from_the_one_without(surface_of_files: Callable[..., Surface]) -> None:
    surface = surface_of_files(
        with_graduation_plans(
            graduationSchoolYear="$.graduationPlanReference.graduationSchoolYear",
            schoolId="$.graduationPlanReference.schoolId",
            schoolYear="$.graduationPlanReference.schoolYear",
            sessionName="$.graduationPlanReference.sessionName",
        )
    )

    assert pairs_of(surface) == [
        ("$.graduationPlanReference.graduationSchoolYear", "$.graduationSchoolYearTypeReference.schoolYear"),
        ("$.graduationPlanReference.schoolId", "$.sessionReference.schoolId"),
        ("$.graduationPlanReference.schoolYear", "$.sessionReference.schoolYear"),
        ("$.graduationPlanReference.sessionName", "$.sessionReference.sessionName"),
    ]


def test_a_subclass_renames_the_member_of_its_superclass(surface: Surface) -> None:
    assert named(surface, "School").superclass == Superclass(
        ResourceName("Ed-Fi", "EducationOrganization"),
        (KeyPair(path("$.schoolId"), path("$.educationOrganizationId")),),
    )


def test_query_fields_are_the_scalars_of_the_query_schema(surface: Surface) -> None:
    assert named(surface, "Session").query_fields == (
        QueryField("id", QueryType.STRING, (path("$.id"),)),
        QueryField("beginDate", QueryType.DATE, (path("$.beginDate"),)),
        QueryField("termDescriptor", QueryType.DESCRIPTOR, (path("$.termDescriptor"),)),
    )
    assert [field.name for field in named(surface, "School").query_fields] == ["id", "schoolId"]


def test_types_of_values_are_derived_from_the_schema(surface: Surface) -> None:
    assert texts(named(surface, "Session").value_paths.dates) == ["$.beginDate"]


def test_an_open_ext_is_not_part_of_the_surface(surface: Surface) -> None:
    assert "_ext" not in named(surface, "School").json_schema["properties"]


def test_a_target_outside_the_file_is_refused_with_its_path(surface_of_files: Callable[..., Surface]) -> None:
    where = "projectSchemas/ed-fi/resourceSchemas/sections/documentPathsMapping/CourseOffering/resourceName"

    with pytest.raises(ApiSchemaError) as refused:
        surface_of_files(changed(OLD, where, "Elsewhere"))

    assert str(refused.value).endswith(
        "$.projectSchemas.ed-fi.resourceSchemas.sections.documentPathsMapping.CourseOffering:"
        " refers to Elsewhere of Ed-Fi, which is not in this file"
    )

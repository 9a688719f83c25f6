"""Every construct of the project with its surface, for each standard."""

import re
from typing import Any

import pytest

from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName, Surface
from tests.model.surface.models import texts
from tests.support.serving import LAKE_COUNTY

_DOCUMENTATION = re.compile(r'documentation ("[^"]*"|inherited) ?')
TEXT = " ".join(
    _DOCUMENTATION.sub("", " ".join(file.read_text().split())) for file in sorted(LAKE_COUNTY.rglob("*.metaed"))
)


def object_of(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return schema | ({"required": list(required)} if required else {})


def array_of(items: dict[str, Any], at_least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": at_least, "uniqueItems": False}


def undocumented(schema: Any) -> Any:
    """The schema without documentation."""
    if not isinstance(schema, dict):
        return schema
    return {
        name: undocumented(part) for name, part in schema.items() if name != "description" or not isinstance(part, str)
    }


def member_at(resource: Resource, path: str) -> tuple[Any, bool]:
    """The schema at a path without arrays, and whether the object around it requires it."""
    *way, name = JsonPath.parse(path).steps
    holder = resource.json_schema
    for step in way:
        holder = holder["properties"][step]
    return undocumented(holder["properties"][name]), name in holder.get("required", ())


SCHOOL_YEAR = {"type": "integer", "minimum": 1900, "maximum": 2100}
SCHOOL_YEAR_REFERENCE = {"title": "EdFi.SchoolYearType", **object_of({"schoolYear": SCHOOL_YEAR}, "schoolYear")}
URI = {"type": "string", "maxLength": 306}
HULL_CODE = {"type": "string", "minLength": 2, "maxLength": 12}
NO_OUTER_BLANKS = {"pattern": r"^(?!\s)([\s\S]*\S)$"}
NOT_BLANK = {"pattern": r"^(?!\s*$)[\s\S]+"}
INT32 = {"type": "integer", "format": "int32"}
PIER_REFERENCE = object_of({"pierNumber": INT32 | {"minimum": 1, "maximum": 999}}, "pierNumber")
PLANK = object_of({"plankNumber": INT32, "mooringDescriptor": URI}, "plankNumber")
SECTION_IDENTIFIER = {"type": "string", "minLength": 1, "maxLength": 20, **NO_OUTER_BLANKS}
BENCH = object_of(
    {
        "benchCode": {"type": "string", "maxLength": 10, **NO_OUTER_BLANKS},
        "sectionReference": object_of({"sectionIdentifier": SECTION_IDENTIFIER}, "sectionIdentifier"),
        "planks": array_of(PLANK),
    },
    "benchCode",
    "sectionReference",
)

MEMBERS = [
    ("Crossing", "bool Cancelled is optional", "$.cancelled", {"type": "boolean"}),
    ("Crossing", "currency Fare is optional", "$.fare", {"type": "number"}),
    ("Crossing", "decimal Wind is optional total digits 4 decimal places 1", "$.wind", {"type": "number"}),
    ("Crossing", "percent Load is optional", "$.load", {"type": "number"}),
    (
        "Crossing",
        "short Passengers is optional min value 0 max value 400",
        "$.passengers",
        {"type": "integer", "minimum": 0, "maximum": 400},
    ),
    ("Crossing", "integer Waves is optional max value big", "$.waves", {"type": "integer", "format": "int64"}),
    ("Crossing", "year Season is optional", "$.season", {"type": "integer"}),
    ("Crossing", "datetime Departed is optional", "$.departed", {"type": "string", "format": "date-time"}),
    ("Crossing", "time Bell is required", "$.bell", {"type": "string", "format": "time"}),
    ("Crossing", "duration Delay is optional", "$.delay", {"type": "string", "maxLength": 30}),
    (
        "Crossing",
        "string LogEntry is optional is queryable field min length 2 max length 200",
        "$.logEntry",
        {"type": "string", "minLength": 2, "maxLength": 200},
    ),
    (
        "Crossing",
        'string OldLogEntry deprecated "Use LogEntry." is optional',
        "$.oldLogEntry",
        {"deprecated": True, "type": "string", "maxLength": 20},
    ),
    (
        "Crossing",
        "date CrossingDate is part of identity role name Planned",
        "$.plannedCrossingDate",
        {"type": "string", "format": "date"},
    ),
    (
        "Crossing",
        "enumeration EdFi.SchoolYear is part of identity",
        "$.schoolYearTypeReference",
        SCHOOL_YEAR_REFERENCE,
    ),
    (
        "Crossing",
        "domain entity Section is optional",
        "$.sectionReference",
        object_of({"sectionIdentifier": SECTION_IDENTIFIER}, "sectionIdentifier"),
    ),
    (
        "Pier",
        "inline common EdFi.BirthData is optional role name Builder",
        "$.builderMultipleBirthStatus",
        {"type": "boolean"},
    ),
    ("Pier", "choice Shelter is required", "$.roof", {"type": "string", "maxLength": 20, **NOT_BLANK}),
    ("Pier", "choice Shelter is required", "$.treeDescriptor", URI),
    ("Pier", "descriptor Mooring is required role name Usual", "$.usualMooringDescriptor", URI),
    (
        "Pier",
        "descriptor EdFi.GradeLevel is optional collection",
        "$.gradeLevels",
        array_of(object_of({"gradeLevelDescriptor": URI}, "gradeLevelDescriptor")),
    ),
    (
        "Pier",
        "enumeration EdFi.SchoolYear is optional role name Building",
        "$.buildingSchoolYearTypeReference",
        SCHOOL_YEAR_REFERENCE,
    ),
    (
        "Pier",
        "string Nickname is optional collection max length 30",
        "$.nicknames",
        array_of(object_of({"nickname": {"type": "string", "maxLength": 30}}, "nickname")),
    ),
    ("Pier", "common Bench is required collection", "$.benches", array_of(BENCH, at_least=1)),
    ("Pier", "common Bollard is optional", "$.bollard", object_of({"rusty": {"type": "boolean"}}, "rusty")),
    ("Pier", "shared decimal Depth is optional role name Low shorten to Lo", "$.loDepth", {"type": "number"}),
    ("Pier", "shared integer Places is optional", "$.places", INT32 | {"minimum": 0}),
    (
        "Ferry",
        "shared string HullCode named FerryCode renames identity property VesselCode",
        "$.ferryCode",
        HULL_CODE | NO_OUTER_BLANKS,
    ),
    ("Ferry", "date LaunchDate is optional", "$.launchDate", {"type": "string", "format": "date"}),
    (
        "Ferry",
        "shared short DeckCount is optional",
        "$.deckCount",
        {"type": "integer", "minimum": 1, "maximum": 9},
    ),
    (
        "Ferry",
        "domain entity Pier is optional collection",
        "$.piers",
        array_of(object_of({"pierReference": PIER_REFERENCE}, "pierReference")),
    ),
    (
        "StudentFerryAssociation",
        "common SeasonPass is optional",
        "$.seasonPass",
        object_of(
            {
                "lastDay": {"type": "string", "format": "date"},
                "passCode": HULL_CODE | NOT_BLANK,
                "validYear": {"type": "integer"},
            },
            "passCode",
        ),
    ),
    ("School", "date FoundingDate is required", "$._ext.lakecounty.foundingDate", {"type": "string", "format": "date"}),
    (
        "School",
        "string SchoolMotto is optional collection max length 60",
        "$._ext.lakecounty.mottos",
        array_of(object_of({"schoolMotto": {"type": "string", "maxLength": 60}}, "schoolMotto")),
    ),
    (
        "School",
        "inline common EdFi.Credits is optional role name Sailing",
        "$._ext.lakecounty.sailingCredits",
        {"type": "number"},
    ),
    ("School", "choice Shelter is optional", "$._ext.lakecounty.treeDescriptor", URI),
    ("School", "common Bench is optional collection", "$._ext.lakecounty.benches", array_of(BENCH)),
    ("StudentSchoolAssociation", "domain entity Pier is required", "$._ext.lakecounty.pierReference", PIER_REFERENCE),
]
PROGRAM_KEY = [
    "$.beginDate",
    "$.educationOrganizationReference.educationOrganizationId",
    "$.programReference.educationOrganizationId",
    "$.programReference.programName",
    "$.programReference.programTypeDescriptor",
    "$.studentReference.studentUniqueId",
]
IS_REQUIRED = re.compile(r"is (required|part of identity)|renames")


def resource_of_any_project(surface: Surface, name: str) -> Resource:
    own = ResourceName("LakeCounty", name)
    return surface.by_name[own if own in surface.by_name else ResourceName("Ed-Fi", name)]


@pytest.mark.parametrize(("resource", "text", "path", "schema"), MEMBERS, ids=[f"{m[0]} {m[2]}" for m in MEMBERS])
def test_a_property_is_a_member(surface: Surface, resource: str, text: str, path: str, schema: Any) -> None:
    found, is_required = member_at(resource_of_any_project(surface, resource), path)

    assert text in TEXT
    assert found == schema
    assert is_required == (bool(IS_REQUIRED.search(text)) and not text.startswith("choice"))


def test_every_declaration_has_its_resource(surface: Surface) -> None:
    own = {resource.url_path: resource.kind.value for resource in surface.resources if "lake" in resource.url_path}

    assert own == {
        "/lake-county/crossings": "entity",
        "/lake-county/ferries": "entity",
        "/lake-county/lostOars": "entity",
        "/lake-county/mooringDescriptors": "descriptor",
        "/lake-county/piers": "entity",
        "/lake-county/rafts": "entity",
        "/lake-county/sailingSchools": "entity",
        "/lake-county/sections": "entity",
        "/lake-county/studentFerryAssociations": "entity",
        "/lake-county/studentSailingProgramAssociations": "entity",
        "/lake-county/treeDescriptors": "descriptor",
    }


def test_identities_combine_both_projects(own) -> None:
    assert texts(own("Crossing").identity) == [
        "$.ferryReference.ferryCode",
        "$.plannedCrossingDate",
        "$.schoolYearTypeReference.schoolYear",
    ]
    assert texts(own("StudentFerryAssociation").identity) == [
        "$.beginDate",
        "$.ferryReference.ferryCode",
        "$.studentReference.studentUniqueId",
    ]
    assert own("Pier").allows_identity_updates
    assert not own("Ferry").allows_identity_updates


@pytest.mark.parametrize(
    ("subclass", "superclass", "here", "there"),
    [
        ("Ferry", ResourceName("LakeCounty", "Vessel"), ["$.ferryCode"], ["$.vesselCode"]),
        ("Raft", ResourceName("LakeCounty", "Vessel"), ["$.raftCode"], ["$.vesselCode"]),
        (
            "SailingSchool",
            ResourceName("Ed-Fi", "EducationOrganization"),
            ["$.sailingSchoolId"],
            ["$.educationOrganizationId"],
        ),
        (
            "StudentSailingProgramAssociation",
            ResourceName("Ed-Fi", "GeneralStudentProgramAssociation"),
            PROGRAM_KEY,
            PROGRAM_KEY,
        ),
    ],
)
def test_a_subclass_has_a_second_identity(
    surface: Surface, own, *, subclass: str, superclass: ResourceName, here: list[str], there: list[str]
) -> None:
    found = own(subclass).superclass

    assert found.name == superclass
    assert texts(pair.here for pair in found.identity) == here
    assert texts(pair.there for pair in found.identity) == there
    abstract = {resource.name: resource.subclasses for resource in surface.abstract_resources}
    assert own(subclass).name in abstract[superclass]


def test_references_lead_into_either_project(own, resource_named) -> None:
    resources = [own("Crossing"), own("Ferry"), own("StudentFerryAssociation"), resource_named("School")]

    found = {str(r.path): (r.target.project, r.target.resource) for resource in resources for r in resource.references}

    assert (
        found.items()
        >= {
            "$.floatingSectionReference": ("Ed-Fi", "Section"),
            "$.sectionReference": ("LakeCounty", "Section"),
            "$.homeSchoolReference": ("Ed-Fi", "School"),
            "$.payingEducationOrganizationReference": ("Ed-Fi", "EducationOrganization"),
            "$.studentSchoolAssociationReference": ("Ed-Fi", "StudentSchoolAssociation"),
            "$._ext.lakecounty.pierReference": ("LakeCounty", "Pier"),
            "$._ext.lakecounty.harbourStaffs[*].harbourStaffReference": ("Ed-Fi", "Staff"),
            "$._ext.lakecounty.benches[*].sectionReference": ("LakeCounty", "Section"),
            "$.addresses[*]._ext.lakecounty.pierReference": ("LakeCounty", "Pier"),
        }.items()
    )


def test_merges_and_shared_columns_apply_across_projects(own, resource_named) -> None:
    def pairs(resource: Resource) -> set[frozenset[str]]:
        return {frozenset({str(pair.source), str(pair.target)}) for pair in resource.equality_constraints}

    assert pairs(own("StudentFerryAssociation")) == {
        frozenset({"$.studentSchoolAssociationReference.studentUniqueId", "$.studentReference.studentUniqueId"})
    }
    assert pairs(resource_named("StudentSchoolAssociation")) >= {
        frozenset(
            {
                "$._ext.lakecounty.studentSailingProgramAssociationReference.studentUniqueId",
                "$.studentReference.studentUniqueId",
            }
        ),
        frozenset({"$._ext.lakecounty.sectionReference.schoolId", "$.schoolReference.schoolId"}),
    }


def test_items_are_distinguished_by_their_keys(own, resource_named) -> None:
    keys = {
        str(unique.array): texts(unique.item_paths)
        for resource in (own("Pier"), own("Ferry"), resource_named("School"))
        for unique in resource.array_uniqueness
    }

    assert (
        keys.items()
        >= {
            "$.benches": ["$.benchCode", "$.sectionReference.sectionIdentifier"],
            "$.benches[*].planks": ["$.plankNumber"],
            "$.nicknames": ["$.nickname"],
            "$.piers": ["$.pierReference.pierNumber"],
            "$._ext.lakecounty.harbourStaffs": ["$.harbourStaffReference.staffUniqueId"],
            "$._ext.lakecounty.mottos": ["$.schoolMotto"],
        }.items()
    )


def test_digits_of_decimals_are_limited(own, resource_named) -> None:
    limits = {
        str(limit.path): (limit.total_digits, limit.decimal_places)
        for resource in (own("Crossing"), own("Pier"), resource_named("School"))
        for limit in resource.decimals
    }

    assert (
        limits.items()
        >= {
            "$.fare": (19, 4),
            "$.load": (5, 4),
            "$.wind": (4, 1),
            "$.loDepth": (5, 2),
            "$._ext.lakecounty.lakeShare": (3, 2),
            "$._ext.lakecounty.sailingCredits": (9, 3),
        }.items()
    )


def test_query_fields_have_the_roles_of_their_paths(own) -> None:
    fields = {
        field.name: texts(field.paths)
        for resource in (own("Ferry"), own("Crossing"), own("Pier"))
        for field in resource.query_fields
    }

    assert (
        fields.items()
        >= {
            "homeSchoolId": ["$.homeSchoolReference.schoolId"],
            "floatingSectionIdentifier": ["$.floatingSectionReference.sectionIdentifier"],
            "sectionIdentifier": ["$.sectionReference.sectionIdentifier"],
            "buildingSchoolYear": ["$.buildingSchoolYearTypeReference.schoolYear"],
            "usualMooringDescriptor": ["$.usualMooringDescriptor"],
            "launchDate": ["$.launchDate"],
        }.items()
    )


def test_deprecation_domains_and_organizations_are_known(surface: Surface, own, resource_named) -> None:
    project = next(project for project in surface.projects if project.name == "LakeCounty")

    assert own("LostOar").deprecated == "Nobody rows any more."
    assert (project.endpoint, project.domains) == ("lake-county", ("Lake",))
    assert own("Pier").domains == ("Shore",)
    assert resource_named("School").domains[-1] == "Lake"
    assert own("SailingSchool").name in surface.organizations.types
    assert [
        (parent.parent.resource, str(parent.path))
        for parent in surface.organizations.parents
        if parent.type == own("SailingSchool").name
    ] == [("LocalEducationAgency", "$.localEducationAgencyReference.localEducationAgencyId")]

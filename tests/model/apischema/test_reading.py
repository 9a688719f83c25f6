"""An official file gives the same surface as the corresponding model."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema_rs
import pytest

from edfi_api.model.apischema.reader import read_api_schemas
from edfi_api.model.surface.resource import (
    ArrayUniqueness,
    DecimalLimit,
    DescriptorPath,
    EqualityConstraint,
    KeyPair,
    NamedPath,
    ParentOrganization,
    ProjectFacts,
    QueryField,
    QueryType,
    ReferencePath,
    Resource,
    ResourceKind,
    ResourceName,
    Superclass,
    Surface,
)
from tests.model.apischema.conftest import changed
from tests.model.apischema.official import CORE, EXTENSION
from tests.model.surface.models import named, texts
from tests.model.surface.paths import path

Read = Callable[..., Surface]

GRADE_LEVEL = ResourceName("Ed-Fi", "GradeLevelDescriptor")
ORGANIZATION = ResourceName("Ed-Fi", "EducationOrganization")


@pytest.fixture
def core(surface_of_files: Read) -> Surface:
    return surface_of_files(CORE)


@pytest.fixture
def both(surface_of_files: Read) -> Surface:
    return surface_of_files(EXTENSION, CORE)


def is_valid(resource: Resource, body: object) -> bool:
    return jsonschema_rs.Draft202012Validator(resource.json_schema).is_valid(body)


def test_a_project_has_name_and_version(core: Surface) -> None:
    assert core.projects == (
        ProjectFacts("Ed-Fi", "ed-fi", "5.2.0", "ed-fi-model-5.2", "A tiny standard", domains=("Enrollment",)),
    )


def test_package_names_of_older_versions_are_those_of_ed_fi(surface_of_files: Read) -> None:
    older = surface_of_files(changed(CORE, "projectSchema/projectVersion", "3.3.1-b"))

    assert older.core_project.package_name == "ed-fi-model-3.3b"


def test_resources_are_in_load_order_under_their_endpoints(core: Surface) -> None:
    assert [resource.url_path for resource in core.resources] == [
        "/ed-fi/gradeLevelDescriptors",
        "/ed-fi/schools",
        "/ed-fi/gradingPeriods",
    ]


def test_a_subclass_has_the_identity_of_its_superclass(core: Surface) -> None:
    school = named(core, "School")

    assert texts(school.identity) == ["$.schoolId"]
    assert school.superclass == Superclass(
        ORGANIZATION, (KeyPair(path("$.schoolId"), path("$.educationOrganizationId")),)
    )
    assert [(a.name, texts(a.identity), a.subclasses) for a in core.abstract_resources] == [
        (ORGANIZATION, ["$.educationOrganizationId"], (school.name,))
    ]


def test_references_have_their_attributes(core: Surface) -> None:
    school, sibling = named(core, "GradingPeriod").references

    assert school == ReferencePath(
        path("$.schoolReference"),
        ResourceName("Ed-Fi", "School"),
        (KeyPair(path("$.schoolReference.schoolId"), path("$.schoolId")),),
        is_required=True,
        is_identity=True,
    )
    assert str(sibling.path) == "$.siblings[*].gradingPeriodReference"
    assert (sibling.is_required, sibling.is_identity) == (False, False)


def test_descriptors_are_found_in_the_body_and_in_references(core: Surface) -> None:
    period = named(core, "GradingPeriod")

    assert period.descriptors == (DescriptorPath(path("$.gradeLevelDescriptor"), GRADE_LEVEL, True, True),)
    assert texts(d.path for d in period.key_descriptors) == [
        "$.siblings[*].gradingPeriodReference.gradeLevelDescriptor"
    ]
    assert named(core, "School").descriptors[0].is_required


def test_a_query_field_over_a_descriptor_is_one_for_descriptors(core: Surface) -> None:
    assert named(core, "GradingPeriod").query_fields == (
        QueryField("id", QueryType.STRING, (path("$.id"),)),
        QueryField("gradeLevelDescriptor", QueryType.DESCRIPTOR, (path("$.gradeLevelDescriptor"),)),
        QueryField("schoolId", QueryType.NUMBER, (path("$.schoolReference.schoolId"),)),
    )


def test_constraints_are_read(core: Surface) -> None:
    period = named(core, "GradingPeriod")

    assert period.equality_constraints == (
        EqualityConstraint(path("$.siblings[*].gradingPeriodReference.schoolId"), path("$.schoolReference.schoolId")),
    )
    assert period.decimals == (DecimalLimit(path("$.credits"), 5, 2),)
    assert period.allows_identity_updates


def test_items_of_nested_arrays_are_unique_within_their_parent(core: Surface) -> None:
    assert named(core, "School").array_uniqueness == (
        ArrayUniqueness(path("$.addresses"), (path("$.city"),)),
        ArrayUniqueness(path("$.addresses[*].periods"), (path("$.beginDate"),)),
        ArrayUniqueness(path("$.gradeLevels"), (path("$.gradeLevelDescriptor"),)),
    )


def test_one_entry_for_several_arrays_is_a_constraint_for_each(surface_of_files: Read) -> None:
    quirk = [{"paths": ["$.gradeLevels[*].gradeLevelDescriptor", "$.addresses[*].city"]}]
    where = "projectSchema/resourceSchemas/schools/arrayUniquenessConstraints"

    school = named(surface_of_files(changed(CORE, where, quirk)), "School")

    assert texts(unique.array for unique in school.array_uniqueness) == ["$.addresses", "$.gradeLevels"]


def test_the_same_reference_twice_in_an_array_is_refused_though_no_file_says_so(core: Surface) -> None:
    assert named(core, "GradingPeriod").array_uniqueness == (
        ArrayUniqueness(
            path("$.siblings"),
            (path("$.gradingPeriodReference.gradeLevelDescriptor"), path("$.gradingPeriodReference.schoolId")),
        ),
    )


def test_types_of_values_are_derived_from_the_schema(core: Surface) -> None:
    values = named(core, "School").value_paths

    assert texts(values.numbers) == ["$.schoolId"]
    assert texts(values.dates) == ["$.addresses[*].periods[*].beginDate"]


def test_a_descriptor_is_identified_by_namespace_and_code_value(core: Surface) -> None:
    descriptor = named(core, "GradeLevelDescriptor")

    assert descriptor.kind is ResourceKind.DESCRIPTOR
    assert texts(descriptor.identity) == ["$.namespace", "$.codeValue"]
    assert [entity.name for entity in core.interchange] == [GRADE_LEVEL]


def test_security_and_deprecation_are_read(core: Surface) -> None:
    assert named(core, "School").securable_elements.education_organization == (
        NamedPath("SchoolId", path("$.schoolId")),
    )
    assert named(core, "GradingPeriod").deprecated == "Use sessions."
    assert named(core, "School").deprecated is None


def test_organizations_of_missing_projects_are_ignored(core: Surface) -> None:
    assert core.organizations.types == (ResourceName("Ed-Fi", "School"), ORGANIZATION)
    assert core.organizations.parents == ()


def test_an_extension_adds_members_below_ext(both: Surface) -> None:
    school = named(both, "School")
    plain = {"schoolId": 1, "nameOfInstitution": "a", "gradeLevels": [{"gradeLevelDescriptor": "u"}]}

    assert is_valid(school, plain)
    assert is_valid(school, plain | {"_ext": {"grandbend": {"foundingDate": "2001-01-01"}}})
    assert texts(reference.path for reference in school.references) == ["$._ext.grandbend.academyReference"]
    assert texts(school.value_paths.dates) == [
        "$._ext.grandbend.foundingDate",
        "$.addresses[*].periods[*].beginDate",
    ]


def test_unknown_and_missing_members_of_additions_are_refused(both: Surface) -> None:
    """Official files allow any member in `_ext`, and require its members in a place without effect."""
    school = named(both, "School")
    plain = {"schoolId": 1, "nameOfInstitution": "a", "gradeLevels": [{"gradeLevelDescriptor": "u"}]}

    assert not is_valid(school, plain | {"_ext": {"grandbend": {}}})
    assert not is_valid(school, plain | {"_ext": {"grandbend": {"foundingDate": "2001-01-01", "unknown": 1}}})
    assert not is_valid(school, plain | {"_ext": {"other": {}}})


def test_a_common_extension_extends_the_objects_of_the_common(both: Surface) -> None:
    school = named(both, "School")
    items = school.json_schema["properties"]["addresses"]["items"]["properties"]

    assert set(items) == {"city", "periods", "_ext"}
    assert set(items["_ext"]["properties"]["grandbend"]["properties"]) == {"gradeLevelDescriptor", "gates"}
    assert texts(d.path for d in school.descriptors) == [
        "$.gradeLevels[*].gradeLevelDescriptor",
        "$.addresses[*]._ext.grandbend.gradeLevelDescriptor",
    ]
    assert texts(unique.array for unique in school.array_uniqueness) == [
        "$.addresses",
        "$.addresses[*]._ext.grandbend.gates",
        "$.addresses[*].periods",
        "$.gradeLevels",
    ]


def test_a_common_extension_without_the_common_is_left_out_with_a_warning(tmp_path: Path) -> None:
    """As from MetaEd text: newer versions of a standard may lack the common."""
    members = "projectSchema/resourceSchemas/schools/jsonSchemaForInsert/properties"
    files = [tmp_path / "ApiSchema.json", tmp_path / "ApiSchema-GrandBend.json"]
    core = changed(CORE, f"{members}/addresses", ...)
    core = changed(core, "projectSchema/resourceSchemas/schools/arrayUniquenessConstraints", [])
    additions = "projectSchema/resourceSchemas/schools"
    extension = changed(EXTENSION, f"{additions}/decimalPropertyValidationInfos", [
        {"path": "$.addresses[*]._ext.grandbend.height", "totalDigits": 3, "decimalPlaces": 1},
        {"path": "$._ext.grandbend.height", "totalDigits": 4, "decimalPlaces": 1},
    ])  # fmt: skip
    pair = {"sourceJsonPath": "$.addresses[*]._ext.grandbend.schoolId", "targetJsonPath": "$.schoolId"}
    extension = changed(extension, f"{additions}/equalityConstraints", [pair])
    for file, content in zip(files, (core, extension), strict=True):
        file.write_text(json.dumps(content))

    surface, warnings = read_api_schemas(files)

    where = "$.projectSchema.resourceSchemas.schools.commonExtensionOverrides[0]"
    assert warnings == (
        f"{files[1]}: {where}: warning: School has no object at $.properties.addresses.items; "
        "the common extension is without effect",
    )
    school = named(surface, "School")
    assert "addresses" not in school.json_schema["properties"]
    assert "foundingDate" in school.json_schema["properties"]["_ext"]["properties"]["grandbend"]["properties"]
    assert texts(descriptor.path for descriptor in school.descriptors) == ["$.gradeLevels[*].gradeLevelDescriptor"]
    assert texts(reference.path for reference in school.references) == ["$._ext.grandbend.academyReference"]
    assert texts(limit.path for limit in school.decimals) == ["$._ext.grandbend.height"]
    assert school.equality_constraints == ()
    assert not any(str(unique.array).startswith("$.addresses") for unique in school.array_uniqueness)


def test_additions_of_two_extensions_are_combined(surface_of_files: Read) -> None:
    second = changed(EXTENSION, "projectSchema/projectName", "Other")
    second = changed(second, "projectSchema/projectEndpointName", "other")
    second = changed(second, "projectSchema/resourceSchemas/academies", ...)
    additions = second["projectSchema"]["resourceSchemas"]["schools"]
    extensions = additions["jsonSchemaForInsert"]["properties"]["_ext"]["properties"]
    extensions["other"] = extensions.pop("grandbend")
    additions |= {"documentPathsMapping": {}, "arrayUniquenessConstraints": [], "commonExtensionOverrides": []}

    school = named(surface_of_files(CORE, EXTENSION, second), "School")

    assert set(school.json_schema["properties"]["_ext"]["properties"]) == {"grandbend", "other"}


def test_a_subclass_in_an_extension_belongs_to_the_superclass(both: Surface) -> None:
    academy = ResourceName("GrandBend", "Academy")
    school = ResourceName("Ed-Fi", "School")

    assert both.abstract_resources[0].subclasses == (school, academy)
    assert both.organizations.types == (school, academy, ORGANIZATION)
    assert both.organizations.parents == (ParentOrganization(academy, school, path("$.schoolReference.schoolId")),)


def test_unused_members_are_ignored(surface_of_files: Read, core: Surface) -> None:
    stranger = changed(CORE, "projectSchema/resourceSchemas/schools/flatteningMetadata", {"any": [1]})

    assert surface_of_files(stranger) == core

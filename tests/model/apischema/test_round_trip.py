"""A surface survives an export and import."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from openapi_spec_validator import validate

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.model.apischema.writer import api_schema
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.surface.builder import build_surface
from edfi_api.model.surface.resource import InterchangeEntity, Surface
from tests.model.surface.models import named, write_project
from tests.support.serving import LAKE_COUNTY, OTHERS_MARKED


def compiled(*projects: Path) -> Surface:
    return build_surface(compile_projects(projects))


def round_trip(surface: Surface, read: Callable[..., Surface]) -> Surface:
    return read(*(api_schema(surface, project) for project in surface.projects))


def expressible(surface: Surface, package_names: Sequence[str]) -> Surface:
    """Return the model without facts that the format cannot express.

    Interchange elements: the format describes JSON only, so only descriptors can be loaded from XML, which differ only
    in their map types. Package names: files do not have them; they are derived from the version as by Ed-Fi.
    """
    descriptors = {resource.name for resource in surface.resources if resource.is_descriptor}
    projects = zip(surface.projects, package_names, strict=True)
    return replace(
        surface,
        projects=tuple(replace(project, package_name=name) for project, name in projects),
        interchange=tuple(without_map(entity) for entity in surface.interchange if entity.name in descriptors),
    )


def without_map(descriptor: InterchangeEntity) -> InterchangeEntity:
    map_element = descriptor.name.resource.removesuffix("Descriptor") + "Map"
    return replace(descriptor, elements=tuple(e for e in descriptor.elements if e.name != map_element))


@pytest.mark.parametrize("standard", OTHERS_MARKED)
def test_a_bundled_standard_is_equal_after_a_round_trip(
    standard: str, surface_of_files: Callable[..., Surface]
) -> None:
    surface = compiled(BUNDLED_STANDARDS / standard)

    returned = round_trip(surface, surface_of_files)

    assert returned == expressible(surface, [surface.core_project.package_name])


@pytest.mark.long
@pytest.mark.parametrize("standard", OTHERS_MARKED)
def test_an_extension_is_equal_after_a_round_trip(standard: str, surface_of_files: Callable[..., Surface]) -> None:
    surface = compiled(BUNDLED_STANDARDS / standard, LAKE_COUNTY)

    returned = round_trip(surface, surface_of_files)

    assert returned == expressible(surface, [surface.core_project.package_name, "lake-county-model-1.2"])


@pytest.mark.long
def test_the_file_of_the_core_has_nothing_of_extensions(surface_of_files: Callable[..., Surface]) -> None:
    alone = compiled(BUNDLED_STANDARDS / "5.2")
    together = compiled(BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)

    core = surface_of_files(api_schema(together, together.core_project))

    # Except domains: a resource is in those of all projects, and the file cannot express to which project they belong.
    assert named(core, "School").domains == (*named(alone, "School").domains, "Lake")
    assert [replace(r, domains=()) for r in core.resources] == [replace(r, domains=()) for r in alone.resources]


def test_additions_are_written_as_by_ed_fi() -> None:
    surface = compiled(BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)

    (_, lake_county) = (api_schema(surface, project)["projectSchema"] for project in surface.projects)
    additions = lake_county["resourceSchemas"]["schools"]
    extensions = additions["jsonSchemaForInsert"]["properties"]["_ext"]

    assert (additions["resourceName"], additions["isResourceExtension"]) == ("School", True)
    assert "queryFieldMapping" not in additions
    assert additions["jsonSchemaForInsert"]["required"] == ["foundingDate"]
    assert extensions["additionalProperties"] is True
    assert "required" not in extensions["properties"]["lakecounty"]
    assert "schools" not in lake_county["resourceNameMapping"].values()
    (override,) = additions["commonExtensionOverrides"]
    assert override["insertionLocations"] == ["$.properties.addresses.items"]
    assert override["projectEndpointName"] == "lake-county"
    assert override["schemaFragment"]["properties"]["lakecounty"]["required"] == ["landing"]


def test_references_are_written_value_by_value() -> None:
    surface = compiled(BUNDLED_STANDARDS / "5.2")
    section = api_schema(surface, surface.core_project)["projectSchema"]["resourceSchemas"]["sections"]

    assert section["documentPathsMapping"]["CourseOfferingReference"] == {
        "isReference": True,
        "isDescriptor": False,
        "projectName": "Ed-Fi",
        "resourceName": "CourseOffering",
        "isRequired": True,
        "isPartOfIdentity": True,
        "referenceJsonPaths": [
            {
                "referenceJsonPath": "$.courseOfferingReference.localCourseCode",
                "identityJsonPath": "$.localCourseCode",
                "type": "string",
            },
            {
                "referenceJsonPath": "$.courseOfferingReference.schoolId",
                "identityJsonPath": "$.schoolReference.schoolId",
                "type": "number",
            },
            {
                "referenceJsonPath": "$.courseOfferingReference.schoolId",
                "identityJsonPath": "$.sessionReference.schoolId",
                "type": "number",
            },
            {
                "referenceJsonPath": "$.courseOfferingReference.schoolYear",
                "identityJsonPath": "$.sessionReference.schoolYear",
                "type": "number",
            },
            {
                "referenceJsonPath": "$.courseOfferingReference.sessionName",
                "identityJsonPath": "$.sessionReference.sessionName",
                "type": "string",
            },
        ],
    }


KEYS = """
Domain Entity Fleet
  string FleetCode is part of identity
  domain entity Harbor is part of identity
  inline common Registry is required
  choice Flag is required
  common Engine is required
  common Berth is required collection
  common Mooring is optional collection
  common Cabin is optional collection
  descriptor Color is required collection
  string Nickname is required collection
  domain entity Harbor is required collection role name Winter
  string Motto is required
Domain Entity Harbor
  string HarborCode is part of identity
Inline Common Registry
  integer RegistryNumber is part of identity
Choice Flag
  string FlagName is required
Common Engine
  string EngineCode is part of identity
  domain entity Harbor is part of identity role name Home
  string Fuel is required
Common Berth
  integer BerthNumber is part of identity
Common Mooring
  domain entity Harbor is part of identity
Common Cabin
  string CabinCode is part of identity
  common Engine is optional
  descriptor Color is required
Descriptor Color
"""


def test_identity_and_required_describe_the_property(tmp_path: Path, surface_of_files: Callable[..., Surface]) -> None:
    """Of the document or of the surrounding common. A collection is neither, whatever its items are."""
    surface = compiled(write_project(tmp_path / "fleet", "Ed-Fi", KEYS))

    file = api_schema(surface, surface.core_project)

    mapping = file["projectSchema"]["resourceSchemas"]["fleets"]["documentPathsMapping"]
    marks = {key: (entry["isPartOfIdentity"], entry["isRequired"]) for key, entry in mapping.items()}
    assert marks == {
        "FleetCode": (True, True),
        "HarborReference": (True, True),
        "RegistryNumber": (True, True),
        "FlagName": (False, False),
        "Engine.EngineCode": (True, True),
        "Engine.HomeHarborReference": (True, True),
        "Engine.Fuel": (False, True),
        "Berths.BerthNumber": (True, True),
        "Moorings.HarborReference": (True, True),
        "Cabins.CabinCode": (True, True),
        "Cabins.Engine.EngineCode": (True, True),
        "Cabins.Engine.HomeHarborReference": (True, True),
        "Cabins.Engine.Fuel": (False, True),
        "Cabins.ColorDescriptor": (False, True),
        "Colors.ColorDescriptor": (False, False),
        "Nicknames.Nickname": (False, False),
        "WinterHarbors.WinterHarborReference": (False, False),
        "Motto": (False, True),
    }
    assert surface_of_files(file).resources == surface.resources


@pytest.mark.parametrize("subject", ["resources", "descriptors"])
def test_the_file_of_the_core_has_the_open_api_skeletons(subject: str) -> None:
    surface = compiled(BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)
    core, lake_county = (api_schema(surface, project)["projectSchema"] for project in surface.projects)

    skeleton = core["openApiBaseDocuments"][subject]

    validate(skeleton)
    assert (skeleton["openapi"], skeleton["servers"], skeleton["paths"], skeleton["tags"]) == (
        "3.0.0",
        [{"url": ""}],
        {},
        [],
    )
    assert skeleton["info"]["version"] == "5.2.0"
    assert set(skeleton["components"]["schemas"]) == (
        {"EdFi_SchoolYearTypeReference"} if subject == "resources" else set()
    )
    assert {name: parameter["name"] for name, parameter in skeleton["components"]["parameters"].items()} == {
        "offset": "offset",
        "limit": "limit",
        "MinChangeVersion": "minChangeVersion",
        "MaxChangeVersion": "maxChangeVersion",
        "If-Match": "If-Match",
        "If-None-Match": "If-None-Match",
        "fields": "fields",
        "queryExpression": "q",
        "totalCount": "totalCount",
        "pageToken": "pageToken",
        "pageSize": "pageSize",
        "numberOfPartitions": "number",
    }
    assert set(skeleton["components"]["responses"]) == {
        "Created",
        "Updated",
        "Deleted",
        "NotModified",
        "BadRequest",
        "Unauthorized",
        "Forbidden",
        "NotFound",
        "Conflict",
        "PreconditionFailed",
        "Error",
    }
    assert "openApiBaseDocuments" not in lake_county


@pytest.mark.long
def test_nested_arrays_are_written_below_their_parent() -> None:
    surface = compiled(BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)
    (_, lake_county) = (api_schema(surface, project)["projectSchema"] for project in surface.projects)

    constraints = lake_county["resourceSchemas"]["piers"]["arrayUniquenessConstraints"]

    assert {
        "paths": ["$.benches[*].benchCode", "$.benches[*].sectionReference.sectionIdentifier"],
        "nestedConstraints": [{"basePath": "$.benches[*]", "paths": ["$.planks[*].plankNumber"]}],
    } in constraints


def test_the_open_api_part_marks_deprecated_members() -> None:
    surface = compiled(BUNDLED_STANDARDS / "3.3.1-b")
    objectives = api_schema(surface, surface.core_project)["projectSchema"]["resourceSchemas"]["learningObjectives"]

    assert objectives["openApiFragments"] == {
        "resources": {
            "components": {
                "schemas": {
                    "EdFi_LearningObjective": {
                        "x-Ed-Fi-isDeprecated": True,
                        "x-Ed-Fi-deprecatedReasons": named(surface, "LearningObjective").deprecated,
                    }
                }
            }
        }
    }

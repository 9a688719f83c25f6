"""A surface, written and read back, is the same surface."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from edfi_api.apischema.writer import api_schema
from edfi_api.conf import BUNDLED_STANDARDS
from edfi_api.metaed.compiler import compile_projects
from edfi_api.surface.builder import build_surface
from edfi_api.surface.resource import Surface
from tests.serving import LAKE_COUNTY, STANDARDS
from tests.surface.models import named


def compiled(*projects: Path) -> Surface:
    return build_surface(compile_projects(projects))


def there_and_back(surface: Surface, read: Callable[..., Surface]) -> Surface:
    return read(*(api_schema(surface, project) for project in surface.projects))


def as_files_can_say(surface: Surface, package_names: Sequence[str]) -> Surface:
    """Without what the format has no place for.

    Interchange elements: the format describes JSON alone, so only descriptors, which are all alike, can be loaded from
    XML. Package names: files do not have them; they are made up from the version as Ed-Fi does.
    """
    descriptors = {resource.name for resource in surface.resources if resource.is_descriptor}
    projects = zip(surface.projects, package_names, strict=True)
    return replace(
        surface,
        projects=tuple(replace(project, package_name=name) for project, name in projects),
        interchange=tuple(entity for entity in surface.interchange if entity.name in descriptors),
    )


@pytest.mark.parametrize("standard", STANDARDS)
def test_a_bundled_standard_comes_back_equal(standard: str, surface_of_files: Callable[..., Surface]) -> None:
    surface = compiled(BUNDLED_STANDARDS / standard)

    returned = there_and_back(surface, surface_of_files)

    assert returned == as_files_can_say(surface, [surface.core_project.package_name])


@pytest.mark.parametrize("standard", STANDARDS)
def test_an_extension_comes_back_equal(standard: str, surface_of_files: Callable[..., Surface]) -> None:
    surface = compiled(BUNDLED_STANDARDS / standard, LAKE_COUNTY)

    returned = there_and_back(surface, surface_of_files)

    assert returned == as_files_can_say(surface, [surface.core_project.package_name, "lake-county-model-1.2"])


def test_the_file_of_the_core_says_nothing_about_extensions(surface_of_files: Callable[..., Surface]) -> None:
    alone = compiled(BUNDLED_STANDARDS / "5.2")
    together = compiled(BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)

    core = surface_of_files(api_schema(together, together.core_project))

    # Domains are the exception: a resource is in those of all projects, and the file cannot say whose they are.
    assert named(core, "School").domains == (*named(alone, "School").domains, "Lake")
    assert [replace(r, domains=()) for r in core.resources] == [replace(r, domains=()) for r in alone.resources]


def test_additions_are_written_as_ed_fi_writes_them() -> None:
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


def test_nested_arrays_are_written_below_their_parent() -> None:
    surface = compiled(BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)
    (_, lake_county) = (api_schema(surface, project)["projectSchema"] for project in surface.projects)

    constraints = lake_county["resourceSchemas"]["piers"]["arrayUniquenessConstraints"]

    assert {
        "paths": ["$.benches[*].benchCode", "$.benches[*].sectionReference.sectionIdentifier"],
        "nestedConstraints": [{"basePath": "$.benches[*]", "paths": ["$.planks[*].plankNumber"]}],
    } in constraints


def test_what_is_deprecated_is_said_in_the_open_api_part() -> None:
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

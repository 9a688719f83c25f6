"""Invalid and malicious files are refused with one paragraph that names the path, without a traceback."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edfi_api.model.apischema.format import ApiSchemaError
from edfi_api.model.apischema.reader import read_api_schemas
from edfi_api.model.surface.resource import Surface
from tests.model.apischema.conftest import changed
from tests.model.apischema.official import CORE, EXTENSION, TEXT, schema

SCHOOL = "projectSchema/resourceSchemas/schools"
PERIOD = "projectSchema/resourceSchemas/gradingPeriods"


def test_a_file_of_the_older_form_is_named_as_such(tmp_path: Path) -> None:
    file = tmp_path / "ApiSchema.json"
    file.write_text('{"projectNameMapping": {}, "projectSchemas": {"ed-fi": {}}}')

    with pytest.raises(ApiSchemaError) as refused:
        read_api_schemas([file])

    assert str(refused.value) == (
        f"{file}: $: an older form, which has the projects together as 'projectSchemas'; generate a file for each "
        "project in the form of apiSchemaVersion 1.x, which has one 'projectSchema'"
    )


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("projectSchema", ..., "$: Object missing required field `projectSchema`"),
        ("apiSchemaVersion", "2.0.0", "$: apiSchemaVersion is 2.0.0; only versions 1.x can be read"),
        ("projectSchema/projectName", 7, "$.projectSchema.projectName: Expected `str`, got `int`"),
        ("projectSchema/projectEndpointName", "a/b", "$.projectSchema.projectEndpointName: Expected `str` matching"),
        (
            "projectSchema/isExtensionProject",
            True,
            "$.projectSchema: an extension needs a data standard: isExtensionProject is true here",
        ),
        (f"{SCHOOL}/resourceName", ..., "$.projectSchema.resourceSchemas.schools: Object missing required field"),
        (f"{SCHOOL}/identityJsonPaths", [], "resourceSchemas.schools: identityJsonPaths is missing or empty"),
        (
            f"{SCHOOL}/identityJsonPaths",
            ["$.unknown"],
            "resourceSchemas.schools: identityJsonPaths: the schema has no $.unknown",
        ),
        (f"{SCHOOL}/identityJsonPaths", ["$..a"], "schools.identityJsonPaths[0]: Expected `str` matching regex"),
        (
            f"{SCHOOL}/superclassResourceName",
            "Nothing",
            "schools: its superclass refers to Nothing of Ed-Fi, which does not exist",
        ),
        (
            f"{SCHOOL}/documentPathsMapping/GradeLevelDescriptor/resourceName",
            "School",
            "schools: $.gradeLevels[*].gradeLevelDescriptor refers to School of Ed-Fi, which is not a descriptor",
        ),
        (
            f"{SCHOOL}/documentPathsMapping/GradeLevelDescriptor/path",
            "$.elsewhere",
            "schools.documentPathsMapping.GradeLevelDescriptor: the schema has no $.elsewhere",
        ),
        (
            f"{PERIOD}/documentPathsMapping/School/referenceJsonPaths",
            [],
            "documentPathsMapping.School: all referenceJsonPaths must lie in one reference object",
        ),
        (
            f"{PERIOD}/documentPathsMapping/School/referenceJsonPaths/0/identityJsonPath",
            "$.nameOfInstitution",
            "gradingPeriods: $.schoolReference does not give the identity of School of Ed-Fi, no more and no less",
        ),
        (
            f"{SCHOOL}/jsonSchemaForInsert/properties/schoolId/type",
            "money",
            "schools.jsonSchemaForInsert.properties.schoolId.type: Invalid enum value 'money'",
        ),
        (f"{SCHOOL}/jsonSchemaForInsert/required", ["x"], "requires 'x', which is none of its properties"),
        (
            f"{SCHOOL}/jsonSchemaForInsert/properties/gradeLevels/items",
            ...,
            "properties.gradeLevels: an array needs items",
        ),
        (
            f"{SCHOOL}/jsonSchemaForInsert/properties/nameOfInstitution/pattern",
            "(",
            "schools.jsonSchemaForInsert: not a valid JSON schema:",
        ),
        (
            f"{SCHOOL}/jsonSchemaForInsert/properties",
            {"a b": 1},
            '$.projectSchema.resourceSchemas.schools.jsonSchemaForInsert.properties["a b"]: Expected `object`',
        ),
        (
            f"{SCHOOL}/arrayUniquenessConstraints",
            [{"paths": ["$.schoolId"]}],
            "schools: arrayUniquenessConstraints: $.schoolId leads into no array",
        ),
        (
            f"{PERIOD}/queryFieldMapping/schoolId/0/type",
            "colour",
            "gradingPeriods: queryFieldMapping.schoolId: there is no type 'colour'",
        ),
    ],
)
def test_an_error_is_reported_with_its_path(
    surface_of_files: Callable[..., Surface], place: str, value: Any, message: str
) -> None:
    with pytest.raises(ApiSchemaError) as refused:
        surface_of_files(changed(CORE, place, value))

    text = str(refused.value)
    assert message in text
    assert "ApiSchema0.json: $" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (f"{SCHOOL}/resourceName", "Nothing", "schools: adds to Nothing of Ed-Fi, which does not exist"),
        ("projectSchema/projectName", "Ed-Fi", "$.projectSchema: there is a project Ed-Fi already"),
        ("projectSchema/isExtensionProject", False, "$.projectSchema: there is a data standard already"),
    ],
)
def test_an_extension_that_does_not_fit_its_core_is_refused(
    surface_of_files: Callable[..., Surface], place: str, value: Any, message: str
) -> None:
    with pytest.raises(ApiSchemaError) as refused:
        surface_of_files(CORE, changed(EXTENSION, place, value))

    assert message in str(refused.value)


@pytest.mark.parametrize("character", ["'", '"', "%", "\\", "{", "}", ",", "#", "=", "$", ".", "[", "\n", "\u017f"])
def test_names_with_special_characters_are_refused(surface_of_files: Callable[..., Surface], character: str) -> None:
    name = f"student{character}Id"
    with pytest.raises(ApiSchemaError, match="cannot be the name of a member"):
        surface_of_files(changed(CORE, f"{SCHOOL}/jsonSchemaForInsert/properties/{name}", TEXT))
    securable = {"Student": [f"$.{name}"]}
    if character not in "$.[":
        with pytest.raises(ApiSchemaError, match="Expected `str` matching regex"):
            surface_of_files(changed(CORE, f"{SCHOOL}/securableElements", securable))


@pytest.mark.parametrize(
    ("place", "name"),
    [("projectSchema/projectVersion", "1.0\n"), (f"{SCHOOL}/resourceName", "School\n")],
)
def test_names_with_a_trailing_newline_are_refused(
    surface_of_files: Callable[..., Surface], place: str, name: str
) -> None:
    with pytest.raises(ApiSchemaError, match="Expected `str` matching regex"):
        surface_of_files(changed(CORE, place, name))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "$: not JSON: "),
        (b"{", "$: not JSON: "),
        (b"[]", "$: Expected `object`, got `array`"),
        (b"null", "$: Expected `object`, got `null`"),
        (b'{"projectSchema": "\xff"}', "$: not JSON: "),
        (b"[" * 100_000, "$: nested too deep"),
    ],
)
def test_a_file_that_is_no_api_schema_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(content)

    with pytest.raises(ApiSchemaError, match=r"file\.json") as refused:
        read_api_schemas([file])

    assert message in str(refused.value)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ApiSchemaError, match=r"none\.json: \$: cannot be read: No such file"):
        read_api_schemas([tmp_path / "none.json"])


def test_a_recursive_schema_is_refused(surface_of_files: Callable[..., Surface]) -> None:
    deep = TEXT
    for _ in range(100):
        deep = schema({"a": deep})

    with pytest.raises(ApiSchemaError, match="nested too deep"):
        surface_of_files(changed(CORE, f"{SCHOOL}/jsonSchemaForInsert/properties/a", deep))


def test_cyclic_identities_are_refused(surface_of_files: Callable[..., Surface]) -> None:
    """A period whose identity refers to itself."""
    own = {"gradingPeriodReference": schema({"schoolId": {"type": "integer"}}, "schoolId")}
    circle = changed(CORE, f"{PERIOD}/jsonSchemaForInsert", schema(own, "gradingPeriodReference"))
    circle = changed(circle, f"{PERIOD}/identityJsonPaths", ["$.gradingPeriodReference.schoolId"])
    pair = {
        "referenceJsonPath": "$.gradingPeriodReference.schoolId",
        "identityJsonPath": "$.gradingPeriodReference.schoolId",
    }
    mapped = {"isReference": True, "resourceName": "GradingPeriod", "referenceJsonPaths": [pair]}
    circle = changed(circle, f"{PERIOD}/documentPathsMapping", {"A": mapped})

    with pytest.raises(ApiSchemaError, match="refer to each other in a circle"):
        surface_of_files(circle)


def test_references_in_a_schema_are_not_resolved(surface_of_files: Callable[..., Surface]) -> None:
    """Resolving `$ref` could fetch any URL."""
    where = f"{SCHOOL}/jsonSchemaForInsert/properties/nameOfInstitution/$ref"

    surface = surface_of_files(changed(CORE, where, "http://127.0.0.1:9/evil.json"))

    assert "$ref" not in json.dumps([resource.json_schema for resource in surface.resources])


@pytest.mark.parametrize("seed", range(60))
def test_any_damaged_file_is_read_or_refused(surface_of_files: Callable[..., Surface], seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    damaged = [_damaged(content, chance) for content in (CORE, EXTENSION)]

    try:
        surface = surface_of_files(*damaged)
    except ApiSchemaError as error:
        assert "ApiSchema" in str(error)
        assert "\n" not in str(error)
    else:
        assert surface.core_project


def _damaged(content: Any, chance: random.Random) -> Any:
    """Replaces or removes one or two values."""
    strange = [None, 0, -1, 1.5, True, "", "$", "x" * 300, "$.a[*]", "[*]", [], [[]], {}, {"a": {}}, "\u0000", ...]
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.choice(list(_places(content)))
        content = changed(content, place, chance.choice(strange))
    return content


def _places(content: Any, prefix: str = "") -> Any:
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for name, value in items:
        yield f"{prefix}{name}"
        if isinstance(value, dict | list):
            yield from _places(value, f"{prefix}{name}/")

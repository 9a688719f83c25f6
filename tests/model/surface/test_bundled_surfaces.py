"""Invariants of every resource of every bundled standard."""

import jsonschema_rs
import pytest

from edfi_api.model.surface.resource import Surface
from tests.model.surface.json_schema import exists
from tests.model.surface.paths import identity_of, paths_of
from tests.support.serving import STANDARDS, served


@pytest.fixture(scope="module", params=STANDARDS)
def surface(request: pytest.FixtureRequest) -> Surface:
    return served(request.param).surface


def test_every_path_exists_in_the_body(surface: Surface) -> None:
    missing = [
        (resource.endpoint, str(path))
        for resource in surface.resources
        for path in paths_of(resource)
        if not exists(path, resource.json_schema)
    ]

    assert missing == []


def test_every_reference_gives_the_whole_identity_of_its_target(surface: Surface) -> None:
    incomplete = [
        (resource.endpoint, str(reference.path))
        for resource in surface.resources
        for reference in resource.references
        if {pair.there for pair in reference.identity} != identity_of(surface, reference.target)
    ]

    assert incomplete == []


def test_every_superclass_identity_is_that_of_the_superclass(surface: Surface) -> None:
    subclasses = [resource for resource in surface.resources if resource.superclass is not None]

    assert len(subclasses) > 15
    for resource in subclasses:
        assert {pair.there for pair in resource.superclass.identity} == identity_of(surface, resource.superclass.name)
        assert {pair.here for pair in resource.superclass.identity} == set(resource.identity)


def test_every_schema_is_a_valid_one(surface: Surface) -> None:
    for resource in surface.resources:
        jsonschema_rs.Draft202012Validator(resource.json_schema, validate_formats=True)


def test_targets_come_before_referrers_unless_the_reference_is_optional(surface: Surface) -> None:
    position = {resource.name: index for index, resource in enumerate(surface.resources)}

    early = [
        (resource.endpoint, reference.target.resource)
        for resource in surface.resources
        for reference in resource.references
        if reference.is_required
        and reference.target in position
        and position[reference.target] > position[resource.name]
    ]

    assert early == []


def test_endpoints_are_case_insensitive(surface: Surface) -> None:
    assert surface.by_endpoint["ed-fi", "studentschoolassociations"].endpoint == "studentSchoolAssociations"
    assert len(surface.by_endpoint) == len(surface.resources)
    for path in ("ed-fi/studentSchoolAssociations", "/Ed-Fi/studentschoolassociations/"):
        found = surface.resource_at(path)
        assert found is not None
        assert found.name.resource == "StudentSchoolAssociation"
    assert surface.resource_at("studentSchoolAssociations") is None
    assert surface.resource_at("ed-fi/studentSchoolAssociations/1") is None

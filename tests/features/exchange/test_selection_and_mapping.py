"""Which resources pass a connection, and in which words."""

import pytest

from edfi_api.features.exchange.resource_selection import (
    DescriptorMapping,
    NotAMapping,
    SelectionMode,
    UnknownResources,
    selected,
    targets_of,
)
from edfi_api.model.surface.resource import Surface

TARGETS = {
    "ed-fi/schools": set[str](),
    "ed-fi/students": set[str](),
    "ed-fi/studentSchoolAssociations": {"ed-fi/schools", "ed-fi/students"},
    "ed-fi/grades": {"ed-fi/studentSchoolAssociations"},
}
MAPPING = "uri://state.org/GradeLevel#K,uri://ed-fi.org/GradeLevel#Kindergarten\n"


@pytest.mark.parametrize(
    ("mode", "listed", "passes"),
    [
        ("all", [], {"schools", "students", "studentSchoolAssociations", "grades"}),
        ("include", ["studentSchoolAssociations"], {"schools", "students", "studentSchoolAssociations"}),
        ("include-only", ["grades"], {"grades"}),
        ("exclude", ["students"], {"schools"}),
        ("exclude-only", ["students"], {"schools", "studentSchoolAssociations", "grades"}),
    ],
)
def test_a_selection_follows_dependencies_as_its_mode_says(mode: str, listed: list[str], passes: set[str]) -> None:
    found = selected(SelectionMode(mode), [f"/ed-fi/{each}" for each in listed], TARGETS)

    assert found == {f"ed-fi/{each}" for each in passes}


def test_a_selection_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(UnknownResources, match="ed-fi/pupils"):
        selected(SelectionMode.INCLUDE, ["ed-fi/pupils"], TARGETS)


def test_dependencies_of_this_server_are_those_of_its_surface(surface: Surface) -> None:
    targets = targets_of(surface)

    assert "ed-fi/schools" in targets["ed-fi/studentSchoolAssociations"]
    assert len(targets) == len(surface.resources)


def test_descriptors_are_mapped_both_ways_at_any_depth() -> None:
    mapping = DescriptorMapping.parse(MAPPING)
    body = {
        "gradeLevelDescriptor": "uri://state.org/gradelevel#k",
        "items": [{"gradeLevelDescriptor": "uri://state.org/GradeLevel#K"}],
        "comment": "uri://state.org/GradeLevel#K",
    }

    mapping.replace_theirs(body)
    here = {**body, "items": [*body["items"]]}
    mapping.replace_ours(body)

    assert here["gradeLevelDescriptor"] == "uri://ed-fi.org/GradeLevel#Kindergarten"
    assert here["comment"] == "uri://state.org/GradeLevel#K"
    assert body["items"] == [{"gradeLevelDescriptor": "uri://state.org/GradeLevel#K"}]


@pytest.mark.parametrize("text", ["uri://a#1", "uri://a#1,uri://b", MAPPING + MAPPING])
def test_a_mapping_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(NotAMapping, match="Line"):
        DescriptorMapping.parse(text)

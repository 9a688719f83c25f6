"""Published deviations: the few paths at which the published surface differs from the rules."""

from dataclasses import replace
from pathlib import Path

import pytest

from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.metaed.errors import ModelErrors
from edfi_api.model.metaed.model import Model, PublishedDeviation
from edfi_api.model.surface.builder import build_surface
from tests.model.surface.models import named, texts, write_project

CORE = """
Domain Entity Card
  string CardCode is part of identity
  common Entry is required collection
Common Entry
  domain entity Grade is part of identity
  descriptor Color is optional
Domain Entity Grade
  integer GradeNumber is part of identity
Descriptor Color
"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return compile_projects([write_project(tmp_path / "core", "Ed-Fi", CORE)])


def deviating(model: Model, **deviation: object) -> Model:
    core = model.projects[0]
    published = PublishedDeviation(resource="Card", reason="So it is published.", **deviation)
    return replace(model, projects=(replace(core, published_deviations=(published,)),))


def test_a_published_name_is_used_everywhere(model: Model) -> None:
    path = "$.entries[*].gradeReference.gradeNumber"

    card = named(build_surface(deviating(model, path=path, published_name="number")), "Card")

    reference = card.json_schema["properties"]["entries"]["items"]["properties"]["gradeReference"]
    (found,) = card.references
    (entries,) = (unique for unique in card.array_uniqueness if str(unique.array) == "$.entries")
    assert set(reference["properties"]) == {"number"}
    assert reference["required"] == ["number"]
    assert [(str(pair.here), str(pair.there)) for pair in found.identity] == [
        ("$.entries[*].gradeReference.number", "$.gradeNumber")
    ]
    assert texts(entries.item_paths) == ["$.gradeReference.number"]
    assert texts(card.value_paths.numbers) == ["$.entries[*].gradeReference.number"]


def test_paths_of_items_follow_a_renamed_array(model: Model) -> None:
    card = named(build_surface(deviating(model, path="$.entries", published_name="lines")), "Card")

    assert "lines" in card.json_schema["properties"]
    assert card.json_schema["required"] == ["cardCode", "lines"]
    assert texts(reference.path for reference in card.references) == ["$.lines[*].gradeReference"]
    assert texts(unique.array for unique in card.array_uniqueness) == ["$.lines"]
    assert texts(card.array_uniqueness[0].item_paths) == ["$.gradeReference.gradeNumber"]


def test_a_member_may_be_published_as_required(model: Model) -> None:
    path = "$.entries[*].colorDescriptor"

    card = named(build_surface(deviating(model, path=path, is_required=True)), "Card")

    items = card.json_schema["properties"]["entries"]["items"]
    assert items["required"] == ["colorDescriptor", "gradeReference"]
    assert [descriptor.is_required for descriptor in card.descriptors] == [True]


def test_a_member_may_be_published_as_optional(model: Model) -> None:
    card = named(build_surface(deviating(model, path="$.entries", is_required=False)), "Card")

    assert card.json_schema["required"] == ["cardCode"]
    assert [reference.is_required for reference in card.references] == [False]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("$.entries[*].shapeDescriptor", r"package\.json:1:1: published deviation: Card has no"),
        ("$.nothing[*].colorDescriptor", "Card has no"),
        ("cardCode", "Card has no"),
        ("$.cardCode", "is part of the identity"),
    ],
)
def test_a_deviation_that_does_not_apply_is_refused(model: Model, path: str, message: str) -> None:
    with pytest.raises(ModelErrors, match=message):
        build_surface(deviating(model, path=path, published_name="other"))

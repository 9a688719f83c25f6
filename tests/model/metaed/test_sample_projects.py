"""Projects on disk: `tests/model/metaed_projects` and the bundled data standards."""

from collections import Counter
from pathlib import Path

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.model.metaed.compiler import check_projects, compile_projects
from edfi_api.model.metaed.model import ADDITIONS_KINDS, Cardinality, EntityKind, Model
from tests.model.metaed.projects import entity, members

SAMPLES = Path(__file__).parents[1] / "metaed_projects"


@pytest.fixture(scope="module")
def samples() -> Model:
    return compile_projects([SAMPLES])


def test_all_sample_projects_compile_together(samples: Model):
    assert [project.name for project in samples.projects] == ["Ed-Fi", "GrandBend", "Homonyms", "Transit"]


def test_the_samples_have_every_kind_of_entity_except_the_plain_enumeration(samples: Model):
    kinds = {key.kind for key in samples.entities}

    assert set(EntityKind) - kinds == {EntityKind.ENUMERATION}


def test_the_only_warnings_of_the_samples_are_old_syntax_old_names_and_a_deprecated_fuel():
    _, problems = check_projects([SAMPLES])

    assert [problem.message for problem in problems] == [
        "'Depot' was found in EdFi only; write 'EdFi.Depot'",
        "'with context' is the former word for 'role name'",
        "'Vehicle' was found in EdFi only; write 'EdFi.Vehicle'",
        "'Facility' was found in EdFi only; write 'EdFi.Facility'",
        "descriptor 'Fuel' is deprecated: Nobody burns it any more.",
    ]


def test_additions_are_in_the_namespace_of_their_project(samples: Model):
    additions = [(key.namespace, key.name) for key in samples.entities if key.kind in ADDITIONS_KINDS]

    assert additions == [
        ("GrandBend", "Vehicle"),
        ("Transit", "DriverDepotAssociation"),
        ("Transit", "Address"),
        ("Transit", "Depot"),
        ("Transit", "Driver"),
    ]


def test_an_extension_in_old_syntax_equals_one_in_new_syntax(samples: Model):
    applicant = entity(samples, EntityKind.DOMAIN_ENTITY, "Applicant", "GrandBend")

    depot = members(applicant)["PreferredDepot"]

    assert (depot.role_name, depot.shorten_to, depot.is_queryable_field) == ("Preferred", "Pref", True)
    assert samples.target(depot).namespace == "EdFi"


def counts(model: Model) -> dict[str, int]:
    """Return counts in the terms in which the facts about the standards count."""
    kinds = Counter(key.kind for key in model.entities)
    properties = [prop for found in model.entities.values() for prop in found.properties]
    return {
        "domain entities": kinds[EntityKind.DOMAIN_ENTITY] - 1,
        "subclasses": kinds[EntityKind.DOMAIN_ENTITY_SUBCLASS],
        "associations": kinds[EntityKind.ASSOCIATION],
        "association subclasses": kinds[EntityKind.ASSOCIATION_SUBCLASS],
        "commons": len([found for found in model.of_kind(EntityKind.COMMON) if not found.is_inline]),
        "inline commons": len([found for found in model.of_kind(EntityKind.COMMON) if found.is_inline]),
        "choices": kinds[EntityKind.CHOICE],
        "descriptors": kinds[EntityKind.DESCRIPTOR],
        "properties": len(properties),
        "renames": len([prop for prop in properties if prop.cardinality is Cardinality.IDENTITY_RENAME]),
        "domains": len(model.domains),
    }


@pytest.mark.parametrize(
    ("standard", "expected"),
    [
        (
            "3.3.1-b",
            {
                "domain entities": 65,
                "subclasses": 9,
                "associations": 31,
                "association subclasses": 9,
                "commons": 68,
                "inline commons": 10,
                "choices": 6,
                "descriptors": 183,
                "properties": 1232,
                "renames": 9,
                "domains": 26,
            },
        ),
        (
            "4.0",
            {
                "domain entities": 75,
                "subclasses": 9,
                "associations": 32,
                "association subclasses": 9,
                "commons": 69,
                "inline commons": 10,
                "choices": 6,
                "descriptors": 189,
                "properties": 1312,
                "renames": 9,
                "domains": 26,
            },
        ),
        (
            "6.1",
            {
                "domain entities": 135,
                "subclasses": 9,
                "associations": 38,
                "association subclasses": 10,
                "commons": 94,
                "inline commons": 11,
                "choices": 5,
                "descriptors": 280,
                "properties": 1952,
                "renames": 9,
                "domains": 34,
            },
        ),
        (
            "5.2",
            {
                "domain entities": 86,
                "subclasses": 9,
                "associations": 33,
                "association subclasses": 10,
                "commons": 75,
                "inline commons": 11,
                "choices": 5,
                "descriptors": 211,
                "properties": 1427,
                "renames": 9,
                "domains": 30,
            },
        ),
    ],
)
def test_a_bundled_standard_has_the_published_number_of_each_kind(standard: str, expected: dict[str, int]):
    assert counts(compile_projects([BUNDLED_STANDARDS / standard])) == expected

"""Generation of the demo district: reproducible by its seed, for both bundled standards."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from edfi_api.features.loading.demo_district import SchoolYear, generate
from edfi_api.model.examples import Bodies
from edfi_api.model.surface.resource import Resource
from tests.features.loading.demo_district.conftest import TODAY, bodies_of, district_of
from tests.support.serving import STANDARDS

PAGE = Path(__file__).parents[4] / "meadowlark/docs/start/demo-district.md"


def counts(standard: str, **options: int) -> dict[str, int]:
    return {name.resource: len(bodies) for name, bodies in district_of(standard, **options).bodies.items()}


def test_the_district_depends_only_on_its_seed() -> None:
    first, again, other = district_of("5.2", seed=7), district_of("5.2", seed=7), district_of("5.2", seed=8)

    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("today", "year", "day"),
    [
        ("2026-10-11", 2026, "2026-06-05"),
        ("2026-10-12", 2027, "2026-10-12"),
        ("2027-03-01", 2027, "2027-03-01"),
        ("2027-08-01", 2027, "2027-06-04"),
    ],
)
def test_the_school_year_is_that_of_the_day_from_its_ninth_week_on(today: str, year: int, day: str) -> None:
    assert SchoolYear.of(date.fromisoformat(today)) == SchoolYear(year, date.fromisoformat(day))


def test_nothing_has_happened_in_the_future() -> None:
    today = date(2026, 10, 20)
    district = {name.resource: bodies for name, bodies in district_of("5.2", today=today).bodies.items()}
    own = [body for body in district["StudentSchoolAttendanceEvent"] if "604822" not in str(body)]
    marks = {body["studentSectionAssociationReference"]["sessionName"] for body in district["Grade"]}

    assert {body["sessionReference"]["schoolYear"] for body in own} == {2027}
    assert date(2026, 10, 13) <= date.fromisoformat(max(body["eventDate"] for body in own)) <= today
    assert marks == {"Fall", "Example"}
    assert {each["schoolYear"]: each["currentSchoolYear"] for each in district["SchoolYearType"]} == {
        2026: False,
        2027: True,
    }


@pytest.mark.parametrize("standard", STANDARDS)
def test_every_standard_has_all_resources_of_the_district(standard: str) -> None:
    assert district_of(standard).left_out == []


def test_the_default_size_is_a_small_district_with_a_school_year() -> None:
    found = counts("5.2", students=2000)

    assert 1990 <= found["Student"] <= 2010
    assert found["School"] == 4 + 1  # One is of the examples.
    assert found["CalendarDate"] == 4 * 210 + 1
    assert found["StudentSchoolAttendanceEvent"] > 10_000
    assert found["Grade"] == found["StudentSectionAssociation"] > 19_000
    assert 60_000 < sum(found.values()) < 80_000


@pytest.mark.parametrize("standard", STANDARDS)
def test_all_staff_belong_to_their_school(standard: str) -> None:
    """Programs that read rosters take these for the staff of a school."""
    district = {name.resource: bodies for name, bodies in district_of(standard).bodies.items()}

    at_schools = [
        (each["staffReference"]["staffUniqueId"], each["schoolReference"]["schoolId"])
        for each in district["StaffSchoolAssociation"]
    ]
    own = [each["staffUniqueId"] for each in district["Staff"] if each["staffUniqueId"].startswith("770")]
    assert sorted(at_schools) == sorted((id_, int(id_[:9])) for id_ in own)


def test_the_older_standard_has_parents_instead_of_contacts() -> None:
    newer, older = counts("5.2"), counts("3.3.1-b")

    assert "Parent" not in newer and "Contact" not in older
    assert newer["Contact"] == older["Parent"] > 200
    assert newer["StudentContactAssociation"] == older["StudentParentAssociation"] > 200


class Recording(Bodies):
    """Records the values given for each resource."""

    def complete(self, resource: Resource, sparse: Any, scope: Any) -> dict[str, Any]:
        if sparse:
            recorded = self.__dict__.setdefault("recorded", {})
            recorded.setdefault(resource.name.resource, []).append((resource, sparse))
        return super().complete(resource, sparse, scope)


def test_every_named_member_and_descriptor_value_exists_in_a_standard() -> None:
    existing, named = set(), set()
    for standard in STANDARDS:
        plain = bodies_of(standard)
        recording = Recording(plain.surface, plain._values)
        generate(recording, 200, seed=1, today=TODAY)
        values = {(value.descriptor, value.code_value) for value in plain._values}
        for drafts in recording.__dict__["recorded"].values():
            for resource, sparse in drafts:
                for path, value in leaves(sparse):
                    place = (_OLDER_NAMES.get(resource.name.resource, resource.name.resource), path)
                    named.add((place, value if path.endswith("Descriptor") else None))
                    targets = {str(each.path): each.target.resource for each in resource.descriptors}
                    if has(resource.json_schema, path):
                        exists = (targets.get(f"$.{path}"), value) in values
                        existing |= {(place, value if exists else None)}

    assert named - existing == set()


_OLDER_NAMES = {"Parent": "Contact", "StudentParentAssociation": "StudentContactAssociation"}


def leaves(sparse: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and values, with empty objects as values."""
    if isinstance(sparse, dict) and sparse:
        for name, value in sparse.items():
            yield from leaves(value, f"{path}.{name}".lstrip("."))
    elif isinstance(sparse, list):
        for item in sparse:
            yield from leaves(item, f"{path}[*]")
    else:
        yield path, None if isinstance(sparse, dict) else sparse


def has(schema: dict[str, Any], path: str) -> bool:
    for step in path.replace("[*]", ".[*]").split("."):
        members = schema.get("items") if step == "[*]" else schema.get("properties", {}).get(step)
        if members is None:
            return False
        schema = members
    return True


def test_no_two_documents_of_a_resource_have_the_same_key() -> None:
    bodies = bodies_of("5.2")
    for name, found in district_of("5.2").bodies.items():
        resource = bodies.surface.by_name[name]
        keys = [tuple(bodies.key(resource, body).items()) for body in found]
        assert len(set(keys)) == len(keys), name.resource

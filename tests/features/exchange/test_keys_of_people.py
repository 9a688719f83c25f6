"""A source such as the ODS may change the unique id of a person, which clients may not change here. It lists that, and
nothing of the documents that refer to the person."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from edfi_api.core.models import Document
from edfi_api.features.exchange.models import Connection, WaitingDocument
from edfi_api.features.exchange.pull.pulling import Pulled
from edfi_api.model.surface.resource import Surface
from tests.features.exchange.cascading_source import CascadingSource
from tests.features.exchange.district import District
from tests.features.exchange.reference_source import Stored
from tests.support.databases import DOCUMENTS

Pull = Callable[[], Pulled]


@pytest.fixture
def people(surface: Surface) -> Iterator[CascadingSource]:
    with CascadingSource(surface=surface, lists_cascades=False).serving() as source:
        yield source


@pytest.fixture
def enrolled(people: CascadingSource) -> District:
    """Two students of a school."""
    district = District(people)
    district.everything(2)
    return district


@pytest.fixture
def take_over(people: CascadingSource, enrolled: District, connect: Callable[..., Connection], pull: Any) -> Pull:
    connection = connect(address=people.address)
    pull(connection)
    return lambda: pull(connection)


def student(source: CascadingSource, id_: str) -> Stored:
    return source.find("ed-fi/students", {"studentUniqueId": id_})


def enrollment(source: CascadingSource, id_: str, day: str = "2025-08-20") -> Stored:
    body = {"studentReference": {"studentUniqueId": id_}, "schoolReference": {"schoolId": 1}, "entryDate": day}
    return source.find("ed-fi/studentSchoolAssociations", body)


def enrollments() -> set[tuple[str, str]]:
    """The name of the student, and the day."""
    rows = Document.objects.using(DOCUMENTS)
    students = rows.filter(resource_type__name="Student")
    names = {row.body["studentUniqueId"]: row.body["firstName"] for row in students}
    found = rows.filter(resource_type__name="StudentSchoolAssociation")
    return {(names[row.body["studentReference"]["studentUniqueId"]], row.body["entryDate"]) for row in found}


def unique_ids() -> set[str]:
    rows = Document.objects.using(DOCUMENTS).filter(resource_type__name="Student")
    return {row.body["studentUniqueId"] for row in rows}


def test_what_refers_to_the_person_follows(people: CascadingSource, take_over: Pull) -> None:
    rows = Document.objects.using(DOCUMENTS)
    before = set(rows.values_list("document_uuid", flat=True))
    people.change_key(student(people, "S0"), studentUniqueId="T0")

    take_over()

    assert unique_ids() == {"T0", "S1"}
    assert len(enrollments()) == 1  # Both students have one name and one day.
    assert set(rows.values_list("document_uuid", flat=True)) == before
    people.put("ed-fi/students", student(people, "T0").body | {"firstName": "Ida"}, student(people, "T0").id)
    people.remove_unreferenced(enrollment(people, "S1"))
    take_over()
    assert enrollments() == {("Ida", "2025-08-20")}
    assert not WaitingDocument.objects.using(DOCUMENTS).exists()


@pytest.mark.parametrize("is_before", [True, False])
def test_another_change_of_a_key_in_the_same_window(people: CascadingSource, take_over: Pull, is_before: bool) -> None:
    changes = [
        lambda: people.change_key(enrollment(people, "S0" if is_before else "T0"), entryDate="2025-09-01"),
        lambda: people.change_key(student(people, "S0"), studentUniqueId="T0"),
    ]
    for change in changes if is_before else reversed(changes):
        change()

    take_over()

    assert unique_ids() == {"T0", "S1"}
    assert enrollments() == {("Mae", "2025-09-01"), ("Mae", "2025-08-20")}


@pytest.mark.parametrize("is_before", [True, False])
def test_a_delete_in_the_same_window(people: CascadingSource, take_over: Pull, is_before: bool) -> None:
    people.change_key(enrollment(people, "S0"), entryDate="2025-09-01")
    take_over()
    if is_before:
        people.remove_unreferenced(enrollment(people, "S0", "2025-09-01"))
    people.change_key(student(people, "S0"), studentUniqueId="T0")
    if not is_before:
        people.remove_unreferenced(enrollment(people, "T0", "2025-09-01"))

    take_over()

    assert enrollments() == {("Mae", "2025-08-20")}


def test_two_people_exchange_their_ids(people: CascadingSource, take_over: Pull) -> None:
    first, other = student(people, "S0"), student(people, "S1")
    people.put(first.path, first.body | {"firstName": "Ida"}, first.id)
    people.change_key(enrollment(people, "S0"), entryDate="2025-09-01")
    take_over()
    people.change_key(student(people, "S0"), studentUniqueId="X")
    people.change_key(people.documents[other.id], studentUniqueId="S0")
    people.change_key(people.documents[first.id], studentUniqueId="S1")

    take_over()

    assert enrollments() == {("Ida", "2025-09-01"), ("Mae", "2025-08-20")}


def test_the_id_of_a_person_who_is_deleted_in_the_same_window(people: CascadingSource, take_over: Pull) -> None:
    people.change_key(enrollment(people, "S0"), entryDate="2025-09-01")
    take_over()
    people.remove_unreferenced(enrollment(people, "S1"))
    people.remove_unreferenced(student(people, "S1"))
    people.change_key(student(people, "S0"), studentUniqueId="S1")

    take_over()

    assert unique_ids() == {"S1"}
    assert enrollments() == {("Mae", "2025-09-01")}
    assert not WaitingDocument.objects.using(DOCUMENTS).exists()

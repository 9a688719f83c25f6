"""`reached_document` is consistent with the documents after every kind of write."""

import random

import pytest
from django.core.management import call_command
from django.db import connection

from edfi_api.core.models import ReachedDocument
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, bulk_writer
from tests.core.documents.reached_documents import (
    CONTACTS,
    SCHOOLS,
    STAFF,
    STUDENTS,
    assert_consistent_with_documents,
    insert,
    load,
    reached_from,
    some_body,
)
from tests.core.security.strategies.scenario import Scenario
from tests.support.plans import begin_with_new_tables


@pytest.fixture
def scenario_without_documents(api_without_check, documents):
    found = Scenario(api_without_check, documents)
    found.district(1)
    for school in SCHOOLS:
        found.school(school, 1)
    return found


@pytest.fixture
def scenario(scenario_without_documents):
    scenario_without_documents.people(STUDENTS, CONTACTS, STAFF)
    return scenario_without_documents


def rows_read():
    """Rows of documents read through an index, in this transaction so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'document'")
        return cursor.fetchone()[0]


def test_an_enrollment_reaches_the_student_and_earlier_documents(scenario):
    scenario.relate("S1", "C1")
    assert reached_from(11) == set()

    scenario.enroll("S1", 11)

    assert {"S1", "C1"} <= reached_from(11)
    assert len(reached_from(11)) == 3
    assert_consistent_with_documents()


def test_an_enrolled_students_later_documents_are_reached(scenario):
    scenario.enroll("S1", 11)
    scenario.relate("S1", "C1")
    scenario.post("PostSecondaryEvent", studentReference={"studentUniqueId": "S1"})

    assert len(reached_from(11)) == 4
    assert_consistent_with_documents()


def test_a_contact_of_two_students_is_reached_until_the_last_path_is_removed(scenario):
    paths = [scenario.enroll(student, 11) for student in STUDENTS]
    for student in STUDENTS:
        scenario.relate(student, "C1")

    assert scenario.api.delete(paths[0]).status_code == 204
    assert "C1" in reached_from(11)
    assert scenario.api.delete(paths[1]).status_code == 204
    assert reached_from(11) == set()
    assert_consistent_with_documents()


def test_a_moved_enrollment_moves_its_persons(scenario):
    path = scenario.enroll("S1", 11)
    scenario.relate("S1", "C1")
    moved = scenario.api.get(path).json() | {"schoolReference": {"schoolId": 12}}

    assert scenario.api.put(path, moved).status_code == 204

    assert (reached_from(11), "C1" in reached_from(12)) == (set(), True)
    assert_consistent_with_documents()


def test_a_person_who_is_deleted_is_reached_from_nowhere(scenario):
    """The association has no references, with which the person could not be deleted."""
    with connection.cursor() as cursor:
        insert(cursor, [{"student": "S1", "organization": 11, "opens_pathway": True}])
        assert reached_from(11) == {"S1"}

        cursor.execute("DELETE FROM document WHERE student = 'S1' AND is_person")

    assert reached_from(11) == set()
    assert_consistent_with_documents()


@pytest.mark.parametrize("tables", ["document", "document, reached_document"])
def test_nothing_is_reached_once_all_documents_are_truncated(scenario, tables):
    scenario.enroll("S1", 11)

    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables} CASCADE")

    assert not ReachedDocument.objects.exists()


def test_a_restored_enrollment_reaches_its_student_again(scenario):
    path = scenario.enroll("S1", 11)
    assert scenario.api.delete(path).status_code == 204

    call_command("restore_document", path.rsplit("/", 1)[1])

    assert reached_from(11) == {"S1"}
    assert_consistent_with_documents()


def test_any_sequence_of_writes(scenario):
    """A fixed random sequence of single writes, deletes and bulk writes."""
    chance = random.Random(7)  # noqa: S311

    paths = set()
    for _ in range(40):
        match chance.choice(["one", "several", "delete"]):
            case "one":
                name, body = some_body(scenario, chance)
                paths.add(scenario.post(name, **body))
            case "several":
                load(scenario, [some_body(scenario, chance) for _ in range(4)])
            case "delete" if paths:
                assert scenario.api.delete(paths.pop()).status_code == 204
        assert_consistent_with_documents()


@pytest.mark.parametrize("seed", range(6))
def test_loads_in_any_order(scenario, seed):
    """Batches of each resource in any order, including documents that are stored already."""
    chance = random.Random(seed)  # noqa: S311
    for _ in range(3):
        bodies = [some_body(scenario, chance) for _ in range(30)]
        names = sorted({name for name, _ in bodies})
        chance.shuffle(names)
        load(scenario, sorted(bodies, key=lambda each: names.index(each[0])))
        assert_consistent_with_documents()
    assert ReachedDocument.objects.count() > 20


def some_rows(chance, number):
    """Rows of documents of any shape, in any order, with some of organization, student, contact and staff member."""
    organization, student, contact, staff = (
        lambda: {"organization": chance.choice(SCHOOLS)},
        lambda: {"student": chance.choice(STUDENTS)},
        lambda: {"contact": chance.choice(CONTACTS)},
        lambda: {"staff": chance.choice(STAFF)},
    )
    opens = {"opens_pathway": True}
    shapes = [
        lambda: organization() | student() | opens,
        lambda: organization() | staff() | opens,
        lambda: organization() | student(),
        lambda: student() | contact() | opens,
        lambda: student() | contact(),
        lambda: contact() | staff(),
        student,
        contact,
        staff,
        organization,
    ]
    return [chance.choice(shapes)() for _ in range(number)]


@pytest.mark.usefixtures("scenario")
@pytest.mark.parametrize("seed", range(6))
def test_documents_of_all_shapes_written_singly_and_in_bulk(seed):
    chance = random.Random(seed)  # noqa: S311
    with connection.cursor() as cursor:
        for _ in range(6):
            for row in some_rows(chance, 5):
                insert(cursor, [row])
            assert_consistent_with_documents()
            insert(cursor, some_rows(chance, 50))
            assert_consistent_with_documents()
    assert ReachedDocument.objects.count() > 100


def test_both_ends_of_paths_in_one_batch(scenario_without_documents):
    """Persons are written in the same batch as their associations with a school."""
    scenario, contact = scenario_without_documents, scenario_without_documents.contact_name
    student = {"studentReference": {"studentUniqueId": "S1"}}
    related = {f"{contact.lower()}Reference": {f"{contact.lower()}UniqueId": "C1"}}
    bodies = [
        ("Student", scenario.body("Student", studentUniqueId="S1")),
        (contact, scenario.body(contact, **{f"{contact.lower()}UniqueId": "C1"})),
        ("StudentSchoolAssociation", scenario.enrollment("S1", 11)),
        (f"Student{contact}Association", scenario.body(f"Student{contact}Association", **student, **related)),
        ("PostSecondaryEvent", scenario.body("PostSecondaryEvent", **student)),
    ]

    with bulk_writer() as writer:
        written = list(
            writer.write_together(Candidate.of(scenario.resource(name), body, name) for name, body in bodies)
        )

    assert [each.result for each in written] == [Outcome.INSERTED] * 5
    assert len(reached_from(11)) == 4
    assert_consistent_with_documents()


@pytest.fixture
def new_tables(db):
    begin_with_new_tables()


def test_a_write_about_one_student_reads_no_documents_of_others(new_tables, scenario_without_documents):
    """Nor if all were written after the last ANALYZE, as in an initial load."""
    scenario, students = scenario_without_documents, [f"M{number}" for number in range(600)]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE document")
    load(scenario, [("Student", scenario.body("Student", studentUniqueId=student)) for student in students])
    enrollments = [("StudentSchoolAssociation", scenario.enrollment(student, 11)) for student in students]
    before = rows_read()
    load(scenario, enrollments)
    assert rows_read() - before < 30 * len(students)
    event = scenario.body("PostSecondaryEvent", studentReference={"studentUniqueId": "M7"})

    before = rows_read()
    scenario.post("PostSecondaryEvent", **event)

    assert rows_read() - before < 100
    assert_consistent_with_documents()


@pytest.mark.usefixtures("scenario")
def test_a_further_enrollment_does_not_read_the_paths_of_earlier_ones():
    earlier = [{"student": "S1", "organization": number, "opens_pathway": True} for number in range(100, 140)]
    relations = [{"student": "S1", "contact": contact, "opens_pathway": True} for contact in CONTACTS * 10]
    with connection.cursor() as cursor:
        insert(cursor, earlier + relations)

        before = rows_read()
        insert(cursor, [{"student": "S1", "organization": 11, "opens_pathway": True}])

        assert rows_read() - before < 300

    assert_consistent_with_documents()

"""Authorization rows of persons under concurrent writes and deletes of their associations."""

import random
from operator import itemgetter

import pytest
from django.db import connection, transaction

from tests.core.documents.reached_documents import (
    CONTACTS,
    STAFF,
    STUDENTS,
    assert_consistent_with_documents,
    insert,
    load,
    reached_from,
    some_body,
)
from tests.core.security.strategies.scenario import Scenario
from tests.whole.concurrency.concurrently import at_once, in_background, wait_until_one_waits_for_us


@pytest.fixture
def scenario(committing_api, documents):
    found = Scenario(committing_api, documents)
    found.district(1)
    for school in (11, 12):
        found.school(school, 1)
    found.people(STUDENTS, CONTACTS, STAFF)
    chance = random.Random(0)  # noqa: S311
    for _ in range(50):  # Stores the targets of all kinds of bodies before the concurrent requests.
        some_body(found, chance)
    return found


def event(scenario, student):
    return scenario.post("PostSecondaryEvent", studentReference={"studentUniqueId": student})


@pytest.mark.parametrize("begins", ["enrollment", "relation"])
def test_both_ends_of_a_path_created_concurrently_are_connected(scenario, begins):
    """Each is written while the other is not yet committed."""
    writes = [lambda: scenario.enroll("S1", 11), lambda: scenario.relate("S1", "C1")]
    first, second = writes if begins == "enrollment" else reversed(writes)

    with transaction.atomic():
        first()
        waiting = in_background(second)
        wait_until_one_waits_for_us(waiting)
    waiting.result()

    assert {"S1", "C1"} <= reached_from(11)
    assert_consistent_with_documents()


def test_a_document_created_during_the_enrollment_of_its_student_is_reached(scenario):
    with transaction.atomic():
        scenario.enroll("S1", 11)
        waiting = in_background(lambda: event(scenario, "S1"))
        wait_until_one_waits_for_us(waiting)
    waiting.result()

    assert len(reached_from(11)) == 2
    assert_consistent_with_documents()


def test_a_document_of_a_contact_created_during_a_load_of_the_enrollment_is_reached(scenario):
    scenario.relate("S1", "C1")
    enrollment = scenario.enrollment("S1", 11)

    with transaction.atomic(), connection.cursor() as cursor:
        insert(cursor, [{"contact": "C1"}])
        waiting = in_background(lambda: load(scenario, [("StudentSchoolAssociation", enrollment)]))
        wait_until_one_waits_for_us(waiting)
    waiting.result()

    assert_consistent_with_documents()


def test_an_enrollment_of_a_load_waits_for_writers_of_the_students_documents(scenario):
    """Also if the load could not foresee the insert: a concurrent client has deleted the previous enrollment, or has
    created the student."""

    def enroll():
        with transaction.atomic(), connection.cursor() as cursor:
            insert(cursor, [{"student": "S1", "organization": 11, "opens_pathway": True}])

    with transaction.atomic():
        event(scenario, "S1")
        waiting = in_background(enroll)
        wait_until_one_waits_for_us(waiting)
    waiting.result()

    assert_consistent_with_documents()


@pytest.mark.parametrize("student", STUDENTS)
def test_a_load_that_waits_for_a_student_does_not_lock_contacts(scenario, student):
    """A transaction that has locked the student may lock contacts next, as an enrollment does."""
    name, contacts = scenario.contact_name, scenario.contact_name.lower()
    relations = [
        scenario.body(
            f"Student{name}Association",
            studentReference={"studentUniqueId": student},
            **{f"{contacts}Reference": {f"{contacts}UniqueId": contact}},
        )
        for contact in CONTACTS
    ]

    with transaction.atomic(), connection.cursor() as cursor:
        event(scenario, student)
        waiting = in_background(lambda: load(scenario, [(f"Student{name}Association", body) for body in relations]))
        wait_until_one_waits_for_us(waiting)
        cursor.execute("SET LOCAL lock_timeout TO 500")  # shorter than PostgreSQL's deadlock_timeout
        insert(cursor, [{"contact": contact} for contact in CONTACTS])
    waiting.result()

    assert_consistent_with_documents()


def test_a_document_created_during_the_delete_of_the_enrollment_is_not_reached(scenario):
    enrollment = scenario.enroll("S1", 11)

    with transaction.atomic():
        assert scenario.api.delete(enrollment).status_code == 204
        waiting = in_background(lambda: event(scenario, "S1"))
        wait_until_one_waits_for_us(waiting)
    waiting.result()

    assert reached_from(11) == set()
    assert_consistent_with_documents()


def test_concurrent_deletes_of_two_enrollments_leave_no_authorization_row(scenario):
    first, second = scenario.enroll("S1", 11), scenario.enroll("S1", 12)
    scenario.relate("S1", "C1")

    with transaction.atomic():
        assert scenario.api.delete(first).status_code == 204
        waiting = in_background(lambda: scenario.api.delete(second))
        wait_until_one_waits_for_us(waiting)
    assert waiting.result().status_code == 204

    assert reached_from(11) | reached_from(12) == set()
    assert_consistent_with_documents()


def test_person_paths_are_consistent_after_many_concurrent_associations(scenario):
    def client(seed):
        chance = random.Random(seed)  # noqa: S311
        own = []

        def write_some():
            for _ in range(15):
                student = chance.choice(["S1", "S2"])
                match chance.randrange(5):
                    case 0:
                        own.append(scenario.enroll(student, chance.choice([11, 12])))
                    case 1:
                        own.append(scenario.relate(student, chance.choice(["C1", "C2"])))
                    case 2:
                        own.append(event(scenario, student))
                    case 3:
                        load(scenario, sorted((some_body(scenario, chance) for _ in range(8)), key=itemgetter(0)))
                    case _ if own:
                        assert scenario.api.delete(own.pop()).status_code in (204, 404)

        return write_some

    at_once(*(client(seed) for seed in range(4)))

    assert_consistent_with_documents()

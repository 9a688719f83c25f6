"""Batches written side by side: only where nobody can tell, and by several loads at once."""

import random

import pytest
from django.db import OperationalError, connection, transaction

from edfi_api.core.storage.integrity import disagreements
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, bulk_writer, pipeline, preparation, write_documents
from edfi_api.features.loading.bulk.preparation import write_set
from tests.features.loading.bulk.both_ways import stored
from tests.features.loading.bulk.conftest import GRADE
from tests.whole.concurrency.concurrently import at_once

INSERTED, UPDATED, UNCHANGED = Outcome.INSERTED, Outcome.UPDATED, Outcome.UNCHANGED


@pytest.fixture
def load(transactional_db, district, validators, monkeypatch):
    """Results of candidates, behind the district's descriptors, by so many processes; all rows must agree then."""
    monkeypatch.setattr(preparation, "MOST_DOCUMENTS", 3)
    monkeypatch.setattr(pipeline, "_ENOUGH_FOR_THREADS", 3)
    monkeypatch.setattr(pipeline, "_TOO_FEW_FOR_PROCESSES", 5)
    list(write_documents(district.descriptors()))

    def run(candidates, processes=2):
        with bulk_writer(processes=processes) as writer:
            return [_comparable(written.result) for written in writer.write(candidates)]

    yield run
    assert list(disagreements(validators, "default")) == []


def _comparable(result):
    return (type(result).__name__, vars(result)) if isinstance(result, Exception) else result


def empty_the_database():
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE document, alias, reference")


def of(*candidates, ids=()):
    return write_set([candidate.resource for candidate in candidates], [ids])


def test_documents_of_one_resource_are_loaded_in_parallel(district):
    assert of(district.period("one"), ids=[b"1"]).is_independent_of(of(district.period("two"), ids=[b"2"]))


def test_referrers_and_targets_are_not_loaded_in_parallel(district):
    schools, periods = of(district.school(1)), of(district.period("one"))

    assert not periods.is_independent_of(schools)
    assert not schools.is_independent_of(periods)


def test_a_reference_to_the_superclass_means_its_subclasses_too(district, resource_named):
    courses = write_set([resource_named("Course")], [])

    assert not courses.is_independent_of(of(district.school(1)))


def test_documents_that_may_refer_to_their_own_kind_wait_for_each_other(district):
    assert not of(district.agency(1)).is_independent_of(of(district.agency(2)))


def test_two_versions_of_one_document_wait_for_each_other(district):
    one = of(district.period("one"), ids=[b"1"])

    assert not one.is_independent_of(of(district.period("one"), ids=[b"1"]))


@pytest.mark.parametrize("seed", range(3))
def test_any_load_has_the_result_of_one_batch_after_the_other(load, district, seed):
    candidates = _mixed(district, random.Random(seed))  # noqa: S311

    in_order = load(candidates, processes=0), stored()
    empty_the_database()
    list(write_documents(district.descriptors()))

    assert (load(candidates), stored()) == in_order


def _mixed(district, order):
    """Documents in load order, many of them several times, some refused."""

    def some(number):
        return (order.randint(1, 9) for _ in range(number))

    return [
        *(district.agency(number, parent=parent) for number, parent in zip(some(20), some(20), strict=True)),
        *(district.school(number + 4, grade=order.choice([GRADE, GRADE.upper(), "no#such"])) for number in some(60)),
        *(district.period(order.choice("ABCDEF"), number) for number in some(60)),
        *(
            district.schedule(order.choice("XYZ"), *order.sample("ABCDEF", 2), school=number, startTime=time)
            for number, time in zip(some(60), ["08:00:00", "09:00:00"] * 30, strict=True)
        ),
    ]


def test_two_loads_of_the_same_documents_succeed(load, district):
    schools = [district.school(number) for number in range(1, 31)]
    periods = [district.period("one", number) for number in range(1, 31)]

    one, other = at_once(lambda: load([*schools, *periods]), lambda: load([*reversed(schools), *reversed(periods)]))

    assert {*one, *other} <= {INSERTED, UNCHANGED}
    assert [*one, *other].count(INSERTED) == 60


def test_loads_about_the_same_people_do_not_deadlock(transactional_db, district, resource_named):
    students, associations = resource_named("Student"), resource_named("StudentSchoolAssociation")
    people = [Candidate.of(students, _student(number), number) for number in range(300)]
    list(write_documents([*district.descriptors(), district.school(1), *people]))
    before = deadlocks()

    def enroll(days, order):
        for day in days:
            candidates = [Candidate.of(associations, _enrollment(number, day), number) for number in order]
            yield from (written.result for written in write_documents(candidates))

    forwards, backwards = range(300), range(299, -1, -1)
    results = at_once(lambda: set(enroll(range(1, 9), forwards)), lambda: set(enroll(range(11, 19), backwards)))

    assert results == [{INSERTED}, {INSERTED}]
    assert deadlocks() == before


def _student(number):
    name = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-01-13"}
    return {"studentUniqueId": str(number), **name}


def _enrollment(student, day):
    return {
        "studentReference": {"studentUniqueId": str(student)},
        "schoolReference": {"schoolId": 1},
        "entryDate": f"2025-08-{day:02d}",
        "entryGradeLevelDescriptor": GRADE,
    }


def deadlocks():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_stat_clear_snapshot(), deadlocks FROM pg_stat_database WHERE datname = current_database()"
        )
        return cursor.fetchone()[1]


def test_a_load_ends_when_a_connection_is_refused(load, district, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")

    with pytest.raises(OperationalError):
        load(district.school(number) for number in range(1, 31))


def test_a_load_is_rolled_back_with_the_transaction_of_the_caller(load, district):
    before = stored()
    with transaction.atomic():
        assert set(load(district.school(number) for number in range(1, 31))) == {INSERTED}
        transaction.set_rollback(True)

    assert stored() == before

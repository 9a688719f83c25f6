"""Batches that are cut, and atomic ones that fail, at every position."""

import pytest
from django.db import OperationalError

from edfi_api.core.storage.driver import execution
from tests.core.security.strategies.scenario import Scenario
from tests.features.loading.bulk.both_ways import rolled_back
from tests.web.batch.batch_client import BatchClient
from tests.web.batch.both_ways import as_batch, one_after_the_other, tables
from tests.web.batch.generated import agency, start
from tests.web.batch.operations import enrolment, period, student


def test_what_opens_and_closes_paths_may_be_cut_anywhere(api, batch, documents, validators):
    batch.results(start())
    of_agency = BatchClient(
        Scenario(api, documents).client_by("RelationshipsWithEdOrgsAndPeople", organizations=(9,)).token
    )
    delete = {"op": "delete", "resource": "/ed-fi/studentSchoolAssociations"}
    key = {"studentUniqueId": "S1", "schoolId": 1, "entryDate": "2025-08-20"}
    move = {"op": "update", "naturalKey": {"localEducationAgencyId": 8}} | agency(8, 9)
    sent = [
        student(1, firstName="Ida"),
        student(2, firstName="Ida"),
        delete | {"naturalKey": key},
        student(1, firstName="Ann"),
        period("C", 1),
        enrolment(2, 1),
        student(2, firstName="Ann"),
        move,
        period("D", 2),
        period("E", 1),
    ]
    alone = rolled_back(lambda: (one_after_the_other(of_agency.api, sent), tables(validators)))

    for position in range(len(sent) + 1):

        def in_two(position=position):
            parts = sent[:position], sent[position:]
            return [answer for part in parts for answer in as_batch(of_agency, part)], tables(validators)

        assert rolled_back(in_two) == alone

    statuses = [status for status, _ in alone[0]]
    assert statuses.count(403) >= 2
    assert any(status < 300 for status in statuses)


@pytest.mark.parametrize("order", ["given", "free"])
def test_an_atomic_batch_whose_statements_fail_at_any_position_writes_nothing(batch, validators, monkeypatch, order):
    batch.results(start())
    before = rolled_back(lambda: tables(validators))
    key = {"naturalKey": {"studentUniqueId": "S5"}}
    sent = [student(5), student(6), enrolment(5), {"op": "update"} | key | student(5, firstName="x"), period("A", 2)]
    run, calls = execution.run, []

    def counted(failing: int):
        def failing_run(statement, *arguments):
            calls.append(statement)
            if len(calls) == failing:
                raise OperationalError("the server has gone")
            return run(statement, *arguments)

        calls.clear()
        monkeypatch.setattr(execution, "run", failing_run)

    counted(0)
    assert rolled_back(lambda: batch.send(sent, order=order).status_code) == 200
    statements = len(calls)
    assert statements > 5
    for failing in range(1, statements + 1):
        counted(failing)
        status, left = rolled_back(lambda: (batch.send(sent, order=order).status_code, tables(validators)))
        # A set that fails is carried out one by one, so the batch may succeed nevertheless.
        assert status in (200, 400, 500, 503)
        assert (left == before) == (status != 200)

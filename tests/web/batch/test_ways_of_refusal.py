"""Each way in which a write is refused: alone, in a set of its own, and in one with others that are written."""

from uuid import UUID

import pytest

from tests.web.batch.both_ways import both_ways
from tests.web.batch.generated import agency, start
from tests.web.batch.operations import ED_FI, enrolment, period, school, student

BY_KEY = {"naturalKey": {"studentUniqueId": "S1"}}
PERIOD = {"naturalKey": {"classPeriodName": "A", "schoolId": 1}}
UNKNOWN_GRADE = {"entryGradeLevelDescriptor": f"{ED_FI}/GradeLevelDescriptor#None"}
WAYS = [
    (student(1, birthDate="x"), 400, "bad-request:data-validation-failed"),
    (student(1, firstName=None), 400, "bad-request:data-validation-failed"),
    (student(1, firstName="x" * 1000), 400, "bad-request:data-validation-failed"),
    (student(1, id="x"), 400, "bad-request:data-validation-failed"),
    (enrolment(1, **UNKNOWN_GRADE), 400, "bad-request"),
    (enrolment(9), 409, "data-conflict:unresolved-reference"),
    (agency(1), 409, "identity-conflict"),
    ({"op": "create"} | student(1), 412, "precondition-failed:if-none-match"),
    ({"ifMatch": '"1-l"'} | student(1), 412, "optimistic-lock-failed"),
    ({"ifMatch": "*"} | student(9), 412, "optimistic-lock-failed"),
    ({"op": "update"} | PERIOD | period("B", 1), 409, "identity-conflict"),
    ({"op": "update"} | BY_KEY | student(2), 400, "bad-request:data-validation-failed:key-change-not-supported"),
    ({"op": "update", "naturalKey": {"studentUniqueId": "S9"}} | student(9), 404, "not-found"),
    (
        {"op": "update", "naturalKey": {"studentUniqueId": "S9"}, "ifMatch": "*"} | student(9),
        412,
        "optimistic-lock-failed",
    ),
    ({"op": "update", "id": str(UUID(int=9)), "ifMatch": "*"} | student(1), 412, "optimistic-lock-failed"),
    ({"op": "delete", "resource": "/ed-fi/students"} | BY_KEY, 409, "data-conflict:dependent-item-exists"),
    (
        {"op": "delete", "resource": "/ed-fi/classPeriods"} | PERIOD | {"ifMatch": '"1-l"'},
        412,
        "optimistic-lock-failed",
    ),
    (
        {"op": "delete", "resource": "/ed-fi/students", "naturalKey": {"studentUniqueId": "S9"}},
        404,
        "not-found",
    ),
]


def others(operation):
    """Operations of the same resource and kind that are written."""
    kind = operation.get("op", "upsert")
    make = {"/ed-fi/students": student, "/ed-fi/localEducationAgencies": agency}.get(operation["resource"])
    return [make(number) for number in range(30, 33)] if make and kind == "upsert" else []


@pytest.mark.parametrize(
    ("operation", "status", "type_"), WAYS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_way_of_refusal(batch, validators, operation, status, type_):
    batch.results(start())

    for sent in ([operation], [operation] * 5, [*others(operation), operation, school(2)]):
        (answers, tables), (answered, left) = both_ways(batch, sent, validators)

        refused = [problem for found, problem in answered if found >= 400]
        assert {(problem["status"], problem["type"]) for problem in refused} == {(status, f"urn:ed-fi:api:{type_}")}
        assert (answered, left) == (answers, tables)

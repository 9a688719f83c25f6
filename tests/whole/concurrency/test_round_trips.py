"""A read or write of one document is one statement, and so one round trip, on an established connection. An upsert
is two if its outcome is not that of the two upserts before."""

import pytest

from tests.conftest import item_path
from tests.whole.concurrency.protocol import statements_sent


@pytest.fixture
def requests(small_school, path_of):
    """Requests by name. Each has been sent before, so that statements are prepared and the token is cached."""
    p1 = path_of(small_school.post_period("P1"))
    path_of(small_school.post_period("P2"))
    s1 = path_of(small_school.post_schedule("S1", "P1", "P2"))
    minutes = iter(range(100))
    requests = {
        "insert": lambda: small_school.post_schedule(f"new {next(minutes)}", "P1", "P2"),
        "same again": lambda: small_school.post_schedule("S1", "P1", "P2"),
        "update by key": lambda: small_school.post_schedule("S1", "P1", totalInstructionalTime=next(minutes)),
        "update by id": lambda: small_school.put_schedule(s1, "S1", "P2", totalInstructionalTime=next(minutes)),
        "get": lambda: small_school.api.get(p1),
        "list": lambda: small_school.api.get("/classPeriods"),
        "count": lambda: small_school.api.get("/classPeriods?totalCount=true"),
        "relations": lambda: small_school.api.get(f"/relations/v1/ed-fi{p1.partition('ed-fi')[2]}?include=body"),
        "delete": lambda: small_school.api.delete(item_path(small_school.post_schedule("gone", "P1"))),
    }
    for request in requests.values():
        assert request().status_code < 300
        assert request().status_code < 300
    return requests


STATEMENTS = {
    "insert": 1,
    "same again": 1,
    "update by key": 1,
    "update by id": 1,
    "get": 1,
    "list": 1,
    "count": 2,  # the page, and the total
    "relations": 1,
}


@pytest.mark.parametrize(("name", "expected"), STATEMENTS.items())
def test_a_request_is_this_many_statements(requests, tmp_path, name, expected):
    requests["same again"]()  # restores the body, so that the request changes something
    requests[name]()

    with statements_sent(tmp_path) as sent:
        answer = requests[name]()

    assert answer.status_code < 300
    assert len(sent) == expected, sent


KINDS = ("insert", "same again", "update by key")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", KINDS)
def test_only_the_first_upsert_of_another_kind_needs_a_second_statement(requests, tmp_path, before, kind):
    for _ in range(3):  # the first one may restore the body
        requests[before]()

    with statements_sent(tmp_path) as first:
        requests[kind]()
    if kind == "same again" != before:
        requests[kind]()  # the first one has restored the body
    with statements_sent(tmp_path) as second:
        requests[kind]()

    assert [len(first), len(second)] == [1 if kind == before else 2, 1]


def test_upserts_whose_kinds_alternate_are_one_statement_each(requests, tmp_path):
    kinds = [KINDS[0], KINDS[2]] * 4
    requests[kinds[0]]()
    requests[kinds[1]]()

    with statements_sent(tmp_path) as sent:
        for kind in kinds:
            assert requests[kind]().status_code < 300

    assert len(sent) == len(kinds)


def test_a_delete_is_one_statement(requests, tmp_path):
    with statements_sent(tmp_path) as sent:
        requests["delete"]()

    assert len(sent) == 2, sent

"""A read or write of one document is one statement, and so one round trip, on a connection that stands."""

from contextlib import contextmanager

import pytest
from django.db import connection

from tests.conftest import item_path

# PostgreSQL's protocol: what a client sends to have something run.
_RUNS_SOMETHING = ("\tExecute\t", "\tQuery\t")


@contextmanager
def statements_sent(tmp_path):
    """A list that holds, after the block, one entry for each statement sent over this thread's connection."""
    sent = []
    protocol = tmp_path / "protocol"
    with protocol.open("w") as file:
        connection.connection.pgconn.trace(file.fileno())
        yield sent
        connection.connection.pgconn.untrace()
    lines = [line for line in protocol.read_text().splitlines() if "\tF\t" in line]
    sent += [line for line in lines if any(kind in line for kind in _RUNS_SOMETHING)]


@pytest.fixture
def asked(small_school, path_of):
    """Requests by name; all have been made before, so that everything is prepared and the token is known."""
    p1 = path_of(small_school.post_period("P1"))
    path_of(small_school.post_period("P2"))
    s1 = path_of(small_school.post_schedule("S1", "P1", "P2"))
    minutes = iter(range(100))
    asked = {
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
    for request in asked.values():
        assert request().status_code < 300
        assert request().status_code < 300
    return asked


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
def test_a_request_is_this_many_statements(asked, tmp_path, name, expected):
    asked["same again"]()  # the one before the update, so that this is none

    with statements_sent(tmp_path) as sent:
        answer = asked[name]()

    assert answer.status_code < 300
    assert len(sent) == expected, sent


def test_only_the_first_new_document_behind_repetitions_is_taken_for_another(asked, tmp_path):
    asked["same again"]()
    asked["same again"]()

    with statements_sent(tmp_path) as repeated:
        asked["same again"]()
    with statements_sent(tmp_path) as first:
        asked["insert"]()
    with statements_sent(tmp_path) as second:
        asked["insert"]()

    assert [len(repeated), len(first), len(second)] == [1, 2, 1]


def test_a_removal_is_one_statement_after_the_one_that_made_the_document(asked, tmp_path):
    with statements_sent(tmp_path) as sent:
        asked["delete"]()

    assert len(sent) == 2, sent

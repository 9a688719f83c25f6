"""Requests on a lost database connection are served on a new one."""

from contextlib import suppress

import psycopg
import pytest
from django.db import close_old_connections, connection, transaction

from edfi_api.core.models import Document
from tests.whole.concurrency.concurrently import in_background, wait_until_one_waits_for_us


@pytest.fixture
def administrator(small_school):
    """A connection that no request uses."""
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as administrator:
        yield administrator
    connection.close()


@pytest.fixture
def period(small_school, path_of):
    return path_of(small_school.post_period("P1"))


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("get /classPeriods", 200),
        ("get /classPeriods?totalCount=true", 200),
        ("get {period}", 200),
        ("post /classPeriods", 200),
        ("put {period}", 204),
        ("delete {period}", 204),
    ],
)
def test_a_request_on_a_dead_connection_is_served_on_a_new_one(
    small_school, administrator, period, request_line, status
):
    administrator.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])
    close_old_connections()  # What Django does at the start of a request, but not of the test client's.
    changed = small_school.period("P1", officialAttendancePeriod=True)
    method, path = request_line.split()
    body = {"get": None, "delete": None, "post": changed, "put": changed | {"id": period.rsplit("/", 1)[1]}}[method]

    answer = small_school.api.request(method, path.format(period=period), body)

    assert answer.status_code == status, answer.content


def test_a_write_whose_connection_is_lost_during_execution_is_retried_on_a_new_one(small_school, administrator, period):
    with transaction.atomic():
        small_school.post_period("P2")
        waiting = in_background(lambda: small_school.post_period("P2", officialAttendancePeriod=True))
        wait_until_one_waits_for_us(waiting)
        administrator.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))",
            [connection.connection.info.backend_pid],
        )
        wait_until_one_waits_for_us(waiting)

    answer = waiting.result(timeout=20)

    assert answer.status_code == 200
    assert Document.objects.get(natural_key__contains="P2").body["officialAttendancePeriod"] is True


def test_a_write_that_waits_too_long_is_503(small_school, period):
    def post_with_lock_timeout():
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '20ms'")
        return small_school.post_period("P2")

    class RolledBack(Exception):
        pass

    with suppress(RolledBack), transaction.atomic():
        small_school.post_period("P2")
        answer = in_background(post_with_lock_timeout).result(timeout=20)
        raise RolledBack

    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert not Document.objects.filter(natural_key__contains="P2").exists()

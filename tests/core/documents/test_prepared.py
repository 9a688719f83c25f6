"""Statements that are prepared per connection, with parameters and results in text format."""

from uuid import UUID

import psycopg
import pytest
from django.db import connection

from edfi_api.core.storage.driver.prepared_statements import bound, run
from edfi_api.core.storage.driver.sql import Sql

ID = UUID("0190b9c4-0000-7abc-8def-00000000000f")
OTHER = UUID("ffffffff-ffff-8fff-bfff-ffffffffffff")


def execute(statement, **parameters):
    connection.ensure_connection()
    return run(bound(Sql(statement, parameters)), connection.connection)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("text", 'ñ "quoted" \\ {braces}, %(none)s'),
        ("text", ""),
        ("text", None),
        ("bigint", -(2**63)),
        ("smallint", 7),
        ("uuid", ID),
        ("uuid[]", [ID, OTHER]),
        ("uuid[]", []),
        ("smallint[]", [1, -2]),
    ],
)
def test_a_value_survives_the_round_trip(type_name, value):
    assert execute(f"SELECT %(value)s::{type_name}", value=value) == [(value,)]


@pytest.mark.django_db
def test_the_items_of_a_text_array_may_have_any_character():
    texts = ['{"a": "b\\"c"}', "a,b", "", "NULL", "\\"]

    rows = execute("SELECT unnest(%(texts)s::text[])", texts=texts)

    assert [text for (text,) in rows] == texts


@pytest.mark.django_db
def test_a_parameter_may_occur_several_times():
    assert execute("SELECT %(a)s::int, %(b)s::int, %(a)s::int", a=1, b=2) == [(1, 2, 1)]


@pytest.mark.django_db
def test_statements_that_differ_in_the_names_of_parameters_are_prepared_once():
    assert execute("SELECT %(a)s::int + 41", a=1) == [(42,)]
    assert execute("SELECT %(b)s::int + 41", b=2) == [(43,)]


@pytest.mark.django_db
def test_an_error_is_the_exception_of_its_sqlstate():
    with pytest.raises(psycopg.errors.DivisionByZero):
        execute("SELECT 1 / %(zero)s::int", zero=0)


@pytest.mark.django_db
def test_a_nul_character_is_an_error_instead_of_truncation():
    with pytest.raises(psycopg.DataError):
        execute("SELECT %(text)s::text", text="a\0b")


@pytest.mark.usefixtures("transactional_db")
def test_a_lost_connection_is_an_operational_error():
    with pytest.raises(psycopg.OperationalError):
        execute("SELECT pg_terminate_backend(pg_backend_pid())::int::bigint")

    assert connection.connection.closed
    connection.close()


@pytest.mark.django_db
def test_a_connection_keeps_a_bounded_number_of_statements():
    for number in range(300):
        assert execute(f"SELECT {number}") == [(number,)]

    [(kept,)] = execute("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'meadowlark%'")
    assert 190 <= kept <= 200
    assert execute("SELECT 0") == [(0,)]


@pytest.mark.usefixtures("transactional_db")
def test_a_session_that_the_server_ended_while_idle_is_closed():
    [(process,)] = execute("SELECT pg_backend_pid()")
    with psycopg.connect(connection.connection.info.dsn) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [process])

    with pytest.raises(psycopg.OperationalError):
        execute("SELECT 1")

    assert connection.connection.closed
    connection.close()

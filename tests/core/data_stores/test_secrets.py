"""Passwords in connection strings are shown nowhere."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connections

from edfi_api.core.data_stores.routing_cache import read_table
from tests.conftest import http

PASSWORD = "correct-horse-battery"
URL = f"postgresql://edfi:{PASSWORD}@127.0.0.1:1/lakeside"


@pytest.fixture
def client(configured, make_store, client_of):
    configured("schoolYear")
    return client_of(make_store("secret", connection=URL, schoolYear="2027")).at("/2027")


def test_neither_answers_nor_logs_nor_metrics_have_a_password(client, log):
    answers = [client.get("/students"), client.post("/students", {}), http().get("/metrics"), http().get("/health")]

    assert answers[0].status_code == 503
    assert not [each for each in answers if PASSWORD in each.content.decode()]
    assert PASSWORD not in log.text
    assert "127.0.0.1" in log.text


def test_no_command_prints_a_password(client, log):
    out, err = StringIO(), StringIO()
    call_command("list_data_stores", "--check", stdout=out, stderr=err)
    for command in ("check_data_stores", "migrate_data_stores", "verify_integrity"):
        named = ["--data-store", "secret"] if command == "verify_integrity" else []
        with pytest.raises((CommandError, DatabaseError)) as error:
            call_command(command, *named, stdout=out, stderr=err)
        assert PASSWORD not in str(error.value)
        assert PASSWORD not in repr(error.value)

    assert "127.0.0.1/lakeside" in out.getvalue()
    assert PASSWORD not in out.getvalue() + err.getvalue() + log.text


def test_values_of_the_process_do_not_show_it(client):
    table = read_table()

    assert PASSWORD not in repr(table)
    assert "gAAAA" not in repr(table)  # Nor the ciphertext.


def test_a_dump_of_the_admin_database_has_only_ciphertext(client):
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT connection FROM data_store")
        [(stored,)] = cursor.fetchall()

    assert PASSWORD not in stored
    assert "127.0.0.1" not in stored

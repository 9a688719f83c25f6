"""A look-up that may find many rows ends in time, and leaves the transaction around it as it was."""

import time

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, transaction

from edfi_api.core.storage import near_keys
from edfi_api.core.storage.driver.execution import find_in_time
from edfi_api.core.storage.driver.sql import Sql
from tests.conftest import ApiTestClient

SLOW = Sql("SELECT 1 FROM pg_sleep(20)")
SETTINGS = Sql("SELECT current_setting('statement_timeout'), current_setting('enable_seqscan')")


def present_settings() -> tuple[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS.text)
        return cursor.fetchone()


@pytest.mark.django_db(transaction=True)
def test_what_takes_too_long_finds_nothing() -> None:
    before, began = present_settings(), time.monotonic()

    assert find_in_time(SLOW, 50, DEFAULT_DB_ALIAS) == []

    assert time.monotonic() - began < 15
    assert present_settings() == before


@pytest.mark.django_db
def test_it_ends_within_the_transaction_of_a_caller_which_goes_on() -> None:
    with transaction.atomic():
        before = present_settings()

        assert find_in_time(SLOW, 50, DEFAULT_DB_ALIAS) == []
        assert find_in_time(SETTINGS, 5_000, DEFAULT_DB_ALIAS) == [("5s", "off")]

        assert present_settings() == before


def test_a_key_is_stored_that_could_not_be_compared_in_time(
    api: ApiTestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_keys, "_others_alike", lambda *_: iter([SLOW]))
    monkeypatch.setattr(near_keys, "_MOST_MILLISECONDS", 50)
    student = {"studentUniqueId": "A  1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}

    assert api.post("/students", student, HTTP_PREFER="handling=strict").status_code == 201
    assert api.get("/students").json()[0]["studentUniqueId"] == "A  1"

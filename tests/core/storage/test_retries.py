"""Statements that are retried, until the reason for which they fail is told."""

import pytest
from django.db import OperationalError, connection

from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql

LOSES_ITS_CONNECTION = Sql("SELECT pg_terminate_backend(pg_backend_pid())")


@pytest.mark.django_db(transaction=True)
def test_an_outage_behind_a_pooler_that_answers_is_an_outage_and_no_contention() -> None:
    """A pooler accepts connections while its server is away, and ends them at their first statement."""
    with pytest.raises(OperationalError):
        run_with_retries(lambda: execute(LOSES_ITS_CONNECTION, "default"))

    connection.close()
    assert execute(Sql("SELECT 1"), "default") == [(1,)]

"""`manage.py housekeeping`: daily maintenance in one command."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone
from oauth2_provider.models import get_access_token_model

from edfi_api.features.changes.change_queries.models import DeletedDocument
from tests.conftest import ApiTestClient
from tests.site.commands.conftest import Run

YEAR = {"schoolYear": 2031, "currentSchoolYear": False, "schoolYearDescription": "2030-2031"}


def create_expired_rows(api: ApiTestClient) -> None:
    """An expired token, an expired session, and the body of a document that was deleted a year ago."""
    long_ago = timezone.now() - timedelta(days=365)
    location = api.post("/schoolYearTypes", YEAR)["Location"].removeprefix("http://testserver")
    assert api.delete(location).status_code == 204
    DeletedDocument.objects.update(deleted_at=long_ago)
    get_access_token_model().objects.update(expires=long_ago)
    session = SessionStore()
    session.create()
    Session.objects.update(expire_date=long_ago)


def test_expired_rows_are_removed(api_without_check: ApiTestClient) -> None:
    create_expired_rows(api_without_check)
    output = StringIO()

    call_command("housekeeping", stdout=output)  # Run as a command line, it would close the connection of the test.

    assert output.getvalue().splitlines() == [
        "0 superseded versions and the bodies of 1 deleted document purged",
        "purge_changes: done",
        "0 refusals purged, 0 closed as aged",
        "purge_refusals: done",
        "rows of runs removed: 0",
        "purge_runs: done",
        "0 questions purged",
        "purge_questions: done",
        "0 results and 0 runs purged",
        "purge_validation: done",
        "sandboxes dropped: 0",
        "drop_ended_sandboxes: done",
        "0 tables purged, and the contents of 0",
        "purge_tables: done",
        "cleartokens: done",
        "secret_links: done",
        "clearsessions: done",
        "document_owner: nothing to do",
        "index_owners: done",
        "index of names: nothing to do",
        "index_names: done",
    ]
    assert not get_access_token_model().objects.exists()
    assert not Session.objects.exists()


def test_a_step_that_fails_does_not_stop_the_others(run: Run, settings, api_without_check: ApiTestClient) -> None:
    create_expired_rows(api_without_check)
    settings.EDFI_API = settings.EDFI_API | {"CHANGE_RETENTION_DAYS": 10**9}

    outcome = run("housekeeping")

    assert "purge_changes: " in outcome.failure and "is not between 0 and 36500" in outcome.failure
    assert outcome.failure.endswith("housekeeping failed: purge_changes")
    assert "cleartokens: done" in outcome.output and "clearsessions: done" in outcome.output


@pytest.mark.django_db
def test_an_empty_run_succeeds(run: Run) -> None:
    outcome = run("housekeeping")

    assert "failed" not in outcome.failure
    assert "0 superseded versions" in outcome.output

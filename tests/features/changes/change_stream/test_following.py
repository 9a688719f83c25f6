"""`stream_changes --follow` as a subprocess: notified of changes, idle without them, and lossless after a kill."""

import threading
import time
from itertools import count

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from edfi_api.core.models import Document
from tests.features.changes.change_stream.conftest import eventually, post_student

FOLLOW = ("stream_changes", "--consumer", "tests", "--follow")

_BACKEND = """
SELECT pid, query_start FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle'
"""


def backends():
    """The time of the last query of each other session."""
    with connection.cursor() as cursor:
        cursor.execute(_BACKEND)
        return dict(cursor.fetchall())


@pytest.fixture
def idle(process, committing_api):
    """A process that has delivered all changes and waits."""
    post_student(committing_api, "first")
    started = process(*FOLLOW)
    eventually(started.lines)
    eventually(_is_waiting)
    eventually(_is_quiet)
    return started


def _is_waiting():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 0 AND objsubid = 2)"
        )
        return cursor.fetchone()[0]


def _is_quiet():
    """Whether its last query before it waits has ended, too."""
    before = backends()
    time.sleep(0.2)
    return backends() == before


def test_an_idle_follower_sends_no_queries_until_a_change(idle, committing_api):
    before = backends()
    time.sleep(1.5)  # Longer than any reasonable polling interval: there is no event to wait for.
    assert backends() == before, "it sent queries although nothing had changed"

    post_student(committing_api, "second")

    eventually(lambda: len(idle.lines()) == 2, seconds=5)


def test_changes_of_transactions_open_while_idle_are_delivered(process, committing_api):
    started = process(*FOLLOW)
    with transaction.atomic():
        post_student(committing_api, "slow")
        eventually(_is_waiting)

    eventually(lambda: len(started.lines()) == 1, seconds=5)


@pytest.mark.long
def test_a_killed_follower_delivers_every_change_after_restart(process, committing_api):
    stop, numbers = threading.Event(), count()

    def write():
        for number in numbers:
            post_student(committing_api, number)
            if stop.wait(0.02):
                break
        connection.close()

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    for enough in (20, 40):
        killed = process(*FOLLOW)
        eventually(lambda killed=killed, enough=enough: len(killed.lines()) > enough)
        killed.end()
    stop.set()
    for writer in writers:
        writer.join()

    started = process(*FOLLOW)
    versions = {document.change_version for document in Document.objects.all()}
    eventually(lambda: {line["changeVersion"] for line in started.lines()} >= versions)
    assert {line["changeVersion"] for line in started.lines()} == versions
    assert len(versions) > 40


def test_a_follower_continues_after_a_database_outage(idle, committing_api):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL"
        )

    post_student(committing_api, "second")

    eventually(lambda: len(idle.lines()) == 2)
    assert "the database is unavailable" in idle.log.read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--resource", "ed-fi/none"], "there is no resource 'ed-fi/none'"),
        (["--sink", "none"], "there is no sink 'none'; settings have: "),
        (["--from", "x"], "'x' is not a whole number"),
    ],
)
def test_errors_end_with_a_message_and_an_exit_status(db, arguments, complaint):
    with pytest.raises(CommandError, match=complaint):
        call_command("stream_changes", "--consumer", "tests", *arguments)

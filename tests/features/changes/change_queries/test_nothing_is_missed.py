"""A client that reads consecutive windows of versions ends with the same documents as the server.

Versions are assigned before the commit that makes their documents visible, so the newest version must wait for slow
transactions. `CHANGE_SECONDS=600 pytest tests/features/changes/change_queries/test_nothing_is_missed.py` runs it
longer.
"""

import os
import random
import time
from collections import Counter
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import transaction

from edfi_api.core.models import Document
from edfi_api.core.storage import store
from edfi_api.core.storage.write_requests import DeleteRequest, WriteRequest
from edfi_api.features.changes.change_queries.tracked_changes import newest_change_version
from edfi_api.features.loading.bulk import Candidate, write_documents
from tests.features.changes.change_queries.conftest import ChangeQueries
from tests.support.databases import DOCUMENTS, connection
from tests.support.factories import STORED_URIS
from tests.whole.concurrency.concurrently import at_once, in_background

SCHOOL = 1008
WRITERS = 6
SECONDS = float(os.environ.get("CHANGE_SECONDS", "5"))


class RolledBack(Exception):
    """Rolls a transaction back."""


@pytest.fixture
def periods(committing_api, documents, resource_named):
    documents.store(resource_named("School"))
    return resource_named("ClassPeriod")


class Writer:
    """Writes, renames and deletes its own class periods, in slow transactions."""

    def __init__(self, number, resource, validators):
        self.number, self.resource, self.validators = number, resource, validators
        self.random = random.Random(number)  # noqa: S311

    def write_until(self, end):
        while time.monotonic() < end:
            if self.random.random() < 0.3:
                self.act()
            else:
                self.act_in_one_transaction()

    def act_in_one_transaction(self):
        with suppress(RolledBack), transaction.atomic(using=DOCUMENTS):
            for _ in range(self.random.randint(1, 5)):
                self.act()
                time.sleep(self.random.random() ** 4 * 0.1)
            if self.random.random() < 0.2:
                raise RolledBack

    def act(self):
        self.random.choices([self.post, self.rename, self.delete, self.load, self.roll_back], [5, 3, 3, 1, 1])[0]()

    def post(self):
        store.upsert(
            WriteRequest(self.validators[self.resource.name].validate_new(self.body(), STORED_URIS), using=DOCUMENTS)
        )

    def load(self):
        list(write_documents((Candidate.of(self.resource, self.body(), "") for _ in range(3)), DOCUMENTS))

    def roll_back(self):
        with suppress(RolledBack), transaction.atomic(using=DOCUMENTS):
            self.post()
            raise RolledBack

    def rename(self):
        if found := self.any_document():
            body = self.body()
            if not Document.objects.filter(body__classPeriodName=body["classPeriodName"]).exists():
                incoming = self.validators[self.resource.name].validate_replacement(
                    body | {"id": str(found)}, found, STORED_URIS
                )
                store.update(WriteRequest(incoming, using=DOCUMENTS), found, self.validators)

    def delete(self):
        if found := self.any_document():
            store.delete(DeleteRequest(self.resource, found, using=DOCUMENTS))

    def body(self) -> dict[str, Any]:
        return {
            "classPeriodName": f"{self.number} {self.random.randint(1, 12)}",
            "schoolReference": {"schoolId": SCHOOL},
            "meetingTimes": [{"startTime": "08:00:00", "endTime": f"09:{self.random.randint(0, 59):02}:00"}],
        }

    def any_document(self):
        own = Document.objects.filter(
            resource_type__name="ClassPeriod", body__classPeriodName__startswith=f"{self.number} "
        )
        found = list(own.values_list("document_uuid", flat=True))
        return self.random.choice(found) if found else None


class Copy:
    """The copy of a client, by key, updated according to meadowlark/docs/reference/contract.md#change-queries."""

    def __init__(self, api):
        self.api, self.changes = api, ChangeQueries(api)
        self.next_version, self.rounds = 0, 0
        self.periods: dict[str, Any] = {}

    def follow_until(self, end):
        while time.monotonic() < end:
            self.catch_up()

    def catch_up(self):
        self.rounds += 1
        newest = self.changes.newest()
        if newest < self.next_version:
            return
        window = (self.next_version, newest)
        for change in self.all(partial(self.changes.key_changes, "classPeriods", *window)):
            if period := self.periods.pop(change["oldKeyValues"]["classPeriodName"], None):
                self.periods[change["newKeyValues"]["classPeriodName"]] = period
        for period in self.walk(*window):
            self.periods[period["classPeriodName"]] = period
        for delete in self.all(partial(self.changes.deletes, "classPeriods", *window)):
            self.periods.pop(delete["keyValues"]["classPeriodName"], None)
        self.next_version = newest + 1

    @staticmethod
    def all(request):
        offset = 0
        while page := request(query=f"limit=3&offset={offset}"):
            yield from page
            offset += len(page)

    def walk(self, first, last):
        window = f"minChangeVersion={first}&maxChangeVersion={last}"
        for token in self.api.get(f"/classPeriods/partitions?{window}").json()["pageTokens"]:
            next_token = token
            while next_token:
                response = self.api.get(f"/classPeriods?{window}&pageToken={next_token}&pageSize=4")
                yield from response.json()
                next_token = response.get("Next-Page-Token")


def test_a_client_of_consecutive_windows_misses_no_change(committing_api, periods, validators):
    copy = Copy(committing_api)
    writers = [Writer(number, periods, validators) for number in range(WRITERS)]
    end = time.monotonic() + SECONDS

    at_once(
        *(partial(writer.write_until, end) for writer in writers),
        partial(copy.follow_until, end),
        seconds=SECONDS + 60,
    )
    copy.catch_up()

    server = committing_api.get("/classPeriods?limit=500").json()
    assert copy.periods == {period["classPeriodName"]: period for period in server}
    assert copy.rounds > SECONDS
    print(f"{copy.rounds} rounds, {copy.next_version // 2} versions")


# In transactions of random length, some of them rolled back: `%s` times an insert, an update, a delete.
_CONCURRENT_WRITES = """
DO $$
DECLARE
    document_row bigint;
BEGIN
    FOR _ IN 1..%s LOOP
        FOR _ IN 1..ceil(random() * 3) LOOP
            INSERT INTO document (document_uuid, resource_type_id, body)
            VALUES (gen_random_uuid(), 1, '{}') RETURNING id INTO document_row;
            PERFORM pg_sleep(random() ^ 6 * 0.03);
            UPDATE document SET body = '{"a": 1}' WHERE id = document_row AND random() < 0.5;
            DELETE FROM document WHERE id = document_row AND random() < 0.5;
        END LOOP;
        IF random() < 0.2 THEN ROLLBACK; ELSE COMMIT; END IF;
    END LOOP;
END
$$
"""
_VERSIONS = "SELECT change_version FROM document_change WHERE change_version BETWEEN %s AND %s"


def test_every_version_is_visible_when_its_window_is_read(transactional_db):
    """Hundreds of windows a second, with more writers than processors."""
    transactions = int(40 * SECONDS)
    read, rounds, next_version = [], 0, newest_change_version(DOCUMENTS) + 1

    with ExitStack() as sessions:
        writers = [
            in_background(partial(connection_of(sessions).execute, _CONCURRENT_WRITES % transactions))
            for _ in range(12)
        ]
        reader = connection_of(sessions)
        is_over = False
        while not is_over:
            is_over = all(writer.done() for writer in writers)
            (newest,) = reader.execute("SELECT newest_change_version()").fetchone()
            read += reader.execute(_VERSIONS, [next_version, newest]).fetchall()
            next_version, rounds = max(next_version, newest + 1), rounds + 1
        written = reader.execute(_VERSIONS, [0, newest]).fetchall()

    assert [writer.exception() for writer in writers] == [None] * 12
    assert Counter(read) == Counter(set(written))
    assert len(written) > transactions
    print(f"{rounds} rounds, {len(written)} versions")


def connection_of(sessions):
    """Another session of the database, closed with the others."""
    connection.ensure_connection()
    session = psycopg.connect(connection.connection.info.dsn, autocommit=True)
    sessions.callback(session.close)
    return session


@pytest.fixture
def another(db):
    with ExitStack() as sessions:
        yield connection_of(sessions)


TAKE = "SELECT next_change_version()"


def test_the_newest_version_stays_below_those_of_a_running_transaction(another):
    before = newest_change_version(DOCUMENTS)
    with another.transaction():
        (slow,) = another.execute(TAKE).fetchone()
        connection.cursor().execute(TAKE)

        assert before <= newest_change_version(DOCUMENTS) < slow

    assert newest_change_version(DOCUMENTS) > slow


def test_the_newest_version_stays_below_the_oldest_of_many_transactions(another):
    with another.transaction():
        (first,) = another.execute(TAKE).fetchone()
        another.execute("SELECT next_change_version() FROM generate_series(1, 20000)")

        assert newest_change_version(DOCUMENTS) < first
        locks = another.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        ).fetchone()
        assert locks == (1,)


def test_a_rolled_back_savepoint_does_not_hold_the_newest_version(another):
    with another.transaction():
        with suppress(RolledBack), another.transaction():
            (rolled_back,) = another.execute(TAKE).fetchone()
            raise RolledBack
        assert newest_change_version(DOCUMENTS) >= rolled_back

        (slow,) = another.execute(TAKE).fetchone()
        assert newest_change_version(DOCUMENTS) < slow


def test_versions_from_before_a_savepoint_hold_the_newest_version(another):
    with another.transaction():
        (slow,) = another.execute(TAKE).fetchone()
        with suppress(RolledBack), another.transaction():
            another.execute(TAKE)
            raise RolledBack

        assert newest_change_version(DOCUMENTS) < slow


def test_a_killed_session_does_not_hold_the_newest_version(another):
    another.execute("BEGIN")
    (slow,) = another.execute(TAKE).fetchone()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [another.info.backend_pid])

    assert newest_change_version(DOCUMENTS) >= slow


def test_unrelated_locks_do_not_hold_the_newest_version(another):
    """Advisory locks of other programs, with keys of one number and of two."""
    connection.cursor().execute(TAKE)
    newest = newest_change_version(DOCUMENTS)
    with another.transaction():
        another.execute("SELECT pg_advisory_xact_lock_shared(1), pg_advisory_xact_lock(17773, 1)")

        assert newest_change_version(DOCUMENTS) == newest


def test_a_read_only_transaction_does_not_hold_the_newest_version(another):
    with another.transaction():
        another.execute("SELECT * FROM document")
        (version,) = connection.cursor().execute(TAKE).fetchone()

        assert newest_change_version(DOCUMENTS) >= version


def test_reported_versions_are_on_disk(another):
    """Bulk loads commit asynchronously."""
    another.execute("SET synchronous_commit TO off")
    another.execute(TAKE)
    another.execute("CREATE TABLE scratch ()")
    another.execute("DROP TABLE scratch")
    (written,) = another.execute("SELECT pg_current_wal_insert_lsn()").fetchone()

    another.execute("SET synchronous_commit TO on")  # As in production; the server of the tests turns it off.
    another.execute("SELECT newest_change_version()")

    assert another.execute("SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn", [written]).fetchone() == (True,)

"""`migrate` while others read the tables that it changes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from edfi_api.core.storage.driver import lock_turns
from tests.support.databases import DOCUMENTS

# It adds a column to the table of refusals.
BEFORE, MIGRATION = ("refusals", "0002"), ("refusals", "0003")


@contextmanager
def session() -> Iterator[Any]:
    own = connections.create_connection(DOCUMENTS)
    try:
        with own.cursor() as cursor:
            yield cursor
    finally:
        own.close()


@pytest.fixture
def turns(monkeypatch) -> Iterator[Callable[[int], None]]:
    """How many, each short; at the end all migrations are applied."""

    def allow(number: int) -> None:
        monkeypatch.setattr(lock_turns, "TURNS", number)

    monkeypatch.setattr(lock_turns, "WAIT_MILLISECONDS", 200)
    monkeypatch.setattr(lock_turns, "PAUSE_SECONDS", 0.1)
    yield allow
    monkeypatch.undo()
    call_command("migrate", database=DOCUMENTS, verbosity=0)


def applied() -> bool:
    with session() as cursor:
        cursor.execute("SELECT count(*) FROM django_migrations WHERE app = 'refusals' AND name LIKE '0003%'")
        return bool(cursor.fetchone()[0])


def test_requests_go_on_while_migrate_waits_for_a_reader(transactional_db, turns, log) -> None:
    """Without turns they would wait behind it, for as long as the reader reads."""
    turns(1_000)
    call_command("migrate", *BEFORE, database=DOCUMENTS, verbosity=0)
    failed: list[BaseException] = []

    def migrate() -> None:
        try:
            call_command("migrate", *MIGRATION, database=DOCUMENTS, verbosity=0)
        except BaseException as error:
            failed.append(error)
        finally:
            connections.close_all()

    with session() as reader, session() as request:
        reader.execute("BEGIN; SELECT count(*) FROM refusal")
        request.execute("SET lock_timeout = '20s'")
        waiting = threading.Thread(target=migrate)
        waiting.start()
        while log.text.count("is not free; turn") < 3 and waiting.is_alive():
            request.execute("SELECT count(*) FROM refusal")
        assert not applied()
        reader.execute("COMMIT")
        waiting.join(60)

    assert (failed, applied()) == ([], True)
    [first, *_] = log.of("edfi_api.core.storage.driver.lock_turns")
    assert "turn 2 of 1000 begins in 0.1 seconds: process " in str(first["message"])
    assert "holds AccessShareLock on refusal" in str(first["message"])


def test_migrate_gives_up_after_the_last_turn_and_names_who_holds_locks(transactional_db, turns) -> None:
    call_command("migrate", *BEFORE, database=DOCUMENTS, verbosity=0)
    turns(2)

    with session() as reader:
        reader.execute("BEGIN; SELECT count(*) FROM refusal")
        with pytest.raises(CommandError) as refused:
            call_command("migrate", *MIGRATION, database=DOCUMENTS, verbosity=0)

    first, reason, holder, *_ = str(refused.value).splitlines()
    assert (first, reason) == ("not all migrations are applied:", "a lock was not free in 2 turns of 200 ms")
    assert "holds AccessShareLock on refusal" in holder
    assert not applied()

"""Creating views while others hold locks. In a module of its own, since the database must be free of transactions."""

import pytest
from django.db import connections

from edfi_api.core.storage.driver import lock_turns
from edfi_api.features.sql_views.changes import ViewsNotInstalled
from edfi_api.features.sql_views.definitions import Definition, ObjectKind, view_definition
from edfi_api.features.sql_views.installation import Installation
from edfi_api.features.sql_views.views import View


def test_a_lock_that_is_not_free_is_reported_with_its_holder(transactional_db, monkeypatch) -> None:
    monkeypatch.setattr(lock_turns, "WAIT_MILLISECONDS", 50)
    monkeypatch.setattr(lock_turns, "TURNS", 2)
    monkeypatch.setattr(lock_turns, "PAUSE_SECONDS", 0.01)
    schema = Definition(ObjectKind.SCHEMA, "of_a_test", "", "CREATE SCHEMA of_a_test")
    view = view_definition(View("of_a_test", "documents", (("id", "d.id"),), "FROM public.document d"))
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN; LOCK TABLE document IN ACCESS EXCLUSIVE MODE")

            with pytest.raises(ViewsNotInstalled) as refused:
                Installation("default").install([schema, view], "none")
    finally:
        other.close()

    reason, *holders = refused.value.args
    assert reason == "a lock was not free in 2 turns of 50 ms"
    assert [text for text in holders if "holds AccessExclusiveLock on document" in text]

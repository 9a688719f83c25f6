"""Handlers of changes: selection, order, exactly-once effects, retries and dead letters."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from edfi_api.core.models import Document
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.changes.change_stream import delivery
from edfi_api.features.changes.change_stream import documents as documents_log
from edfi_api.features.changes.change_stream.delivery import ToHandler, deliver_once
from edfi_api.features.changes.change_stream.exceptions import UnknownResource
from edfi_api.features.changes.change_stream.handlers import handlers_in, on_change
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.site.observability.metrics import exposition
from tests.conftest import item_path
from tests.features.changes.change_stream.conftest import eventually, post_student

PAGE = Path(__file__).parents[4] / "meadowlark/docs/operate/change-streams.md"


@pytest.fixture
def module():
    """A module for handlers that tests define, with the loaded handlers."""
    module = ModuleType("handlers_of_a_test")
    sys.modules[module.__name__] = module
    module.handlers = lambda: handlers_in([module.__name__])
    yield module
    del sys.modules[module.__name__]


def deliver(module):
    deliver_once([ToHandler(handler) for handler in module.handlers()])


def define(module, function, name):
    function.__module__, function.__qualname__ = module.__name__, name
    setattr(module, name, function)


@pytest.fixture
def table():
    """Creates tables and drops them after the test."""
    made = []

    def make(name, columns):
        made.append(name)
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} ({columns})")

    yield make
    with connection.cursor() as cursor:
        for name in made:
            cursor.execute(f"DROP TABLE {name}")


def rows(table):
    with connection.cursor() as cursor:
        return cursor.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()  # noqa: S608  a fixed name


def test_the_example_of_the_page_works(api, documents, resource_named, module, table):
    table("enrollment", "id uuid PRIMARY KEY, school_id bigint, student_unique_id text")
    [example] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), vars(module))  # noqa: S102  a page of this repository
    documents.store(resource_named("StudentSchoolAssociation"))
    enrollment = api.get("/studentSchoolAssociations").json()[0]

    deliver(module)
    assert rows("enrollment") == [
        (
            Document.objects.get(resource_type__name="StudentSchoolAssociation").document_uuid,
            enrollment["schoolReference"]["schoolId"],
            enrollment["studentReference"]["studentUniqueId"],
        )
    ]

    api.delete(f"/studentSchoolAssociations/{enrollment['id']}")
    deliver(module)
    assert rows("enrollment") == []


def test_handlers_are_called_once_for_each_change_that_they_are_registered_for(api, module):
    seen, updates = [], []

    @on_change("ed-fi/students", "insert", "delete")
    def both(change):
        seen.append(change)

    @on_change("Ed-Fi/Students", "update")
    def other(change):
        updates.append(change)

    define(module, both, "both")
    define(module, other, "other")
    path = item_path(post_student(api, 1))
    post_student(api, 1, firstName="May")
    deliver(module)
    api.delete(path)

    deliver(module)

    assert [change.operation for change in seen] == ["insert", "delete"]
    assert [change.body["firstName"] for change in updates] == ["May"]
    names = set(ChangeConsumer.objects.values_list("name", flat=True))
    assert names == {"handlers_of_a_test.both", "handlers_of_a_test.other"}


def test_a_failure_is_rolled_back_and_retried_before_later_changes(api, module, table, monkeypatch):
    monkeypatch.setattr(delivery, "_FIRST_PAUSE_SECONDS", 0.001)
    table("noted", "change_version bigint")
    failures = iter([True, True])

    def fail_twice(change):
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO noted VALUES (%s)", [change.version])
        if next(failures, False):
            raise RuntimeError("not yet")

    define(module, on_change("ed-fi/students")(fail_twice), "fail_twice")
    for number in range(3):
        post_student(api, number)

    deliver(module)

    versions = Document.objects.order_by("change_version").values_list("change_version", flat=True)
    assert rows("noted") == [(version,) for version in versions]
    assert not DeadLetter.objects.exists()


def test_a_permanent_failure_is_a_dead_letter_that_the_admin_delivers_again(api, module, monkeypatch, settings):
    monkeypatch.setattr(delivery, "_FIRST_PAUSE_SECONDS", 0.001)
    settings.EDFI_API = settings.EDFI_API | {"CHANGE_HANDLERS": [module.__name__]}
    handled, is_mended = [], []

    def fragile(change):
        if change.natural_key.endswith("=1") and not is_mended:
            raise ValueError("cannot do 1")
        handled.append(change.natural_key[-1])

    define(module, on_change("ed-fi/students")(fragile), "fragile")
    for number in range(3):
        post_student(api, number)
    deliver(module)
    assert handled == ["0", "2"]
    letter = DeadLetter.objects.get()
    assert (letter.handler, letter.attempts) == ("handlers_of_a_test.fragile", delivery.ATTEMPTS)
    assert 'meadowlark_dead_letters{handler="handlers_of_a_test.fragile"} 1.0' in exposition().decode()

    admin = Client()
    admin.force_login(User.objects.create_superuser("operator"))
    action = {"action": "deliver_again", "_selected_action": letter.pk}
    assert "ValueError: cannot do 1" in admin.get("/admin/change_stream/deadletter/").content.decode()
    assert (
        "0 delivered, 1 failed again."
        in admin.post("/admin/change_stream/deadletter/", action, follow=True).content.decode()
    )
    assert DeadLetter.objects.get().attempts == delivery.ATTEMPTS + 1
    is_mended.append(True)
    assert (
        "1 delivered, 0 failed again."
        in admin.post("/admin/change_stream/deadletter/", action, follow=True).content.decode()
    )
    assert handled == ["0", "2", "1"]
    assert not DeadLetter.objects.exists()


def test_handlers_take_turns_so_that_none_waits_for_all_changes_of_another(api, module, monkeypatch):
    seen = []
    for name in ("first", "second"):
        define(module, on_change("ed-fi/students")(lambda change, name=name: seen.append(name)), name)
    deliver(module)  # From here on batches have one version each; other tests may have left many behind.
    monkeypatch.setattr(documents_log, "_SMALLEST_SPAN", 1)
    monkeypatch.setattr(documents_log, "_FEW", 0)
    for number in range(2):
        post_student(api, number)

    deliver(module)

    assert seen == ["first", "second", "first", "second"]


def test_a_killed_runner_has_handled_each_change_exactly_once(process, committing_api, table):
    table("noted", "change_version bigint")
    arguments, handlers = (
        ["run_handlers"],
        {"MEADOWLARK_CHANGE_HANDLERS": "tests.features.changes.change_stream.counting_handler"},
    )
    for number in range(100):
        post_student(committing_api, number)
    killed = process(*arguments, **handlers)
    eventually(lambda: rows("noted"))
    killed.end()
    process(*arguments, **handlers)

    versions = sorted(Document.objects.values_list("change_version", flat=True))
    eventually(lambda: len(rows("noted")) >= len(versions))
    assert [version for (version,) in rows("noted")] == versions


def test_lag_is_the_age_of_the_oldest_undelivered_change(api, streamed):
    streamed("behind")
    post_student(api, 1)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE document SET last_modified_at = now() - interval '1 hour'")
    post_student(api, 2)

    text = exposition().decode()
    [seconds] = re.findall(r'meadowlark_change_consumer_lag_seconds{consumer="behind",log="documents"} (\S+)', text)
    assert 3600 <= float(seconds) < 3700
    streamed("behind")
    assert 'meadowlark_change_consumer_lag_seconds{consumer="behind",log="documents"} 0.0' in exposition().decode()


def test_only_functions_of_the_module_itself_are_found_and_their_resources_must_exist(module):
    define(module, on_change("ed-fi/students")(lambda change: None), "ours")
    borrowed = on_change("ed-fi/schools")(lambda change: None)
    module.borrowed = borrowed

    assert [handler.name for handler in module.handlers()] == ["handlers_of_a_test.ours"]
    define(module, on_change("ed-fi/none")(lambda change: None), "wrong")
    with pytest.raises(UnknownResource, match="ed-fi/none"):
        module.handlers()


def test_an_unknown_operation_is_refused_at_registration():
    with pytest.raises(ValueError, match="'create' is not a valid Operation"):
        on_change("ed-fi/students", "create")

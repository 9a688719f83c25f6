"""The changes of data stores: each line names its data store, and one process works on many."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.core.management.base import CommandError

from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.features.changes.change_stream import delivery
from edfi_api.features.changes.change_stream.documents import Change, DocumentLog
from edfi_api.features.changes.change_stream.log import Origin, newest
from edfi_api.features.changes.change_stream.sinks.sink import message_id
from tests.support.management_commands import run


class Kept:
    """A sink that keeps what it gets."""

    lines: list[dict] = []

    def __init__(self, consumer):
        pass

    def send(self, changes):
        Kept.lines += [json.loads(change.line()) for change in changes]

    def close(self):
        pass


@pytest.fixture
def two(configured, make_store, client_of):
    Kept.lines = []
    sinks = {"kept": {"BACKEND": "tests.core.data_stores.test_changes.Kept"}}
    configured("schoolYear", CHANGE_SINKS=sinks, CHANGE_HANDLERS=("tests.core.data_stores.handlers",))
    stores = [make_store(year, schoolYear=year) for year in ("2026", "2027")]
    api = client_of(*stores)
    for store in stores:
        _write(api, store.name, store.name)
    return stores, api


def _write(api, year, student):
    body = {"studentUniqueId": student, "firstName": "A", "lastSurname": "B", "birthDate": "2010-01-01"}
    assert api.at(f"/{year}").post("/students", body).status_code == 201


def _seen():
    return [(line["dataStore"], line["context"], line["body"]["studentUniqueId"]) for line in Kept.lines]


def test_lines_name_the_data_store_and_the_client(two):
    (first, second), api = two

    run("stream_changes", "--consumer", "lake", "--sink", "kept", "--data-store", "2026")
    run("stream_changes", "--consumer", "lake", "--sink", "kept", "--all-data-stores")
    _write(api, "2027", "later")
    run("stream_changes", "--consumer", "lake", "--sink", "kept", "--all-data-stores")

    assert _seen() == [
        (first.pk, {"schoolYear": "2026"}, "2026"),
        (second.pk, {"schoolYear": "2027"}, "2027"),
        (second.pk, {"schoolYear": "2027"}, "later"),
    ]
    from edfi_api.core.security.models import ApiClient  # noqa: PLC0415

    assert {line["client"] for line in Kept.lines} == {ApiClient.objects.get(name="tests").client_id}


def test_a_line_is_read_as_it_was_written(two):
    (first, _), _ = two
    using = alias_of(read_table().stores[first.pk].primary)
    reader = DocumentLog().reader((), using)
    [change] = [change for batch in reader.batches(0, newest(using)) for change in batch.events]

    assert change.origin == Origin(first.pk, {"schoolYear": "2026"})
    assert message_id(change) == f"{first.pk}-{change.version}"
    read = Change.from_line(change.line().decode())
    assert (read.body, replace(read, text=None)) == (change.body, replace(change, text=None))


def test_one_that_does_not_answer_is_named_after_the_others(two, make_store, store_databases):
    make_store("away", connection=store_databases.url_of("away"), schoolYear="2020")

    with pytest.raises(CommandError, match=r"failed for 1 data stores: \d+ away"):
        run("stream_changes", "--consumer", "lake", "--sink", "kept", "--all-data-stores")

    assert len(Kept.lines) == 2


def test_versions_are_of_one_data_store(two):
    with pytest.raises(CommandError, match="--from needs a single --data-store"):
        run("stream_changes", "--consumer", "lake", "--sink", "kept", "--all-data-stores", "--from", "1")


def test_data_stores_that_are_added_are_followed(two, make_store, client_of, monkeypatch):
    """The pause between two rounds is where the test acts."""
    _, api = two
    steps = iter([lambda: _add(make_store, api), _interrupt])
    monkeypatch.setattr(delivery, "time", SimpleNamespace(sleep=lambda _: next(steps)(), monotonic=time.monotonic))

    run("stream_changes", "--consumer", "lake", "--sink", "kept", "--all-data-stores", "--follow")

    assert [student for _, _, student in _seen()] == ["2026", "2027", "new"]


def _add(make_store, api):
    from edfi_api.core.data_stores.routing_cache import routing_cache  # noqa: PLC0415
    from edfi_api.core.security.models import ApiClient  # noqa: PLC0415

    ApiClient.objects.get(name="tests").data_stores.add(make_store("2028", schoolYear="2028"))
    routing_cache()._checked_at -= 1
    _write(api, "2028", "new")


def _interrupt():
    raise KeyboardInterrupt


def test_handlers_are_called_for_all_data_stores(two):
    from tests.core.data_stores import handlers  # noqa: PLC0415

    handlers.SEEN.clear()
    (first, second), _ = two

    run("run_handlers", "--once", "--all-data-stores")
    run("run_handlers", "--once", "--all-data-stores")

    assert [(first.pk, "2026"), (second.pk, "2027")] == handlers.SEEN

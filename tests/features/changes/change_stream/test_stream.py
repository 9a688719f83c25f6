"""The stream of changes: contents, order and positions."""

import threading

import pytest
from django.db import connection, transaction

from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.changes.change_stream.exceptions import ConsumerIsBusy, SinkFailed
from edfi_api.features.changes.change_stream.log import Consumer
from tests.conftest import item_path
from tests.features.changes.change_stream.conftest import post_student

PERIOD = {"classPeriodName": "P1", "schoolReference": {"schoolId": 1008}}


def values(lines, *members):
    return [tuple(line[member] for member in members) for line in lines]


def test_every_kind_of_change_is_delivered_in_order(api, streamed, documents, resource_named):
    documents.store(resource_named("ClassPeriod"))
    streamed()
    period = api.get("/classPeriods").json()[0]
    path = f"/classPeriods/{period['id']}"
    kept = {name: value for name, value in period.items() if not name.startswith("_")}

    api.put(path, kept | {"officialAttendancePeriod": True})
    api.put(path, kept | {"classPeriodName": "P2"})
    api.put(path, kept | {"classPeriodName": "P2"})
    api.delete(path)
    api.post("/classPeriods", {name: value for name, value in kept.items() if name != "id"})

    lines = streamed()
    assert [line["operation"] for line in lines] == ["update", "key_change", "delete", "insert"]
    assert {line["resource"] for line in lines} == {"ed-fi/classPeriods"}
    assert [line["id"] == period["id"] for line in lines] == [True, True, True, False]
    assert lines[0]["body"]["officialAttendancePeriod"] is True
    assert lines[1]["oldKeyValues"]["classPeriodName"] == period["classPeriodName"]
    assert lines[1]["body"]["classPeriodName"] == lines[2]["body"]["classPeriodName"] == "P2"
    assert "classPeriodName=P2" in lines[1]["naturalKey"]
    assert {line["client"] for line in lines} == {ApiClient.objects.get().client_id}
    versions = [line["changeVersion"] for line in lines]
    assert versions == sorted(set(versions))
    assert all(line["time"].endswith("Z") for line in lines)


def test_a_new_consumer_sees_every_live_document(api, streamed, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))

    lines = streamed("new")

    assert {line["id"] for line in lines} == {str(document.document_uuid) for document in Document.objects.all()}


def test_each_consumer_continues_at_its_position(api, streamed):
    post_student(api, 1)
    assert len(streamed("a")) == 1
    post_student(api, 2)

    assert values(streamed("a"), "naturalKey") == [("NK#studentUniqueId=2",)]
    assert len(streamed("b")) == 2
    assert streamed("a") == streamed("b") == []


def test_a_consumer_can_start_at_a_given_version(api, streamed):
    for number in range(3):
        post_student(api, number)
    versions = [version for (version,) in values(streamed(), "changeVersion")]

    assert values(streamed(start=versions[0]), "changeVersion") == [(version,) for version in versions[1:]]
    assert streamed() == []
    assert len(streamed(start=0)) == 3


def test_a_stream_can_be_limited_to_some_resources(api, streamed, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))

    lines = streamed(resources=[resource_named("Student"), resource_named("School")])

    assert {*values(lines, "resource")} == {("ed-fi/students",), ("ed-fi/schools",)}


def test_versions_with_large_gaps_are_delivered(api, streamed):
    post_student(api, 1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval('change_version', nextval('change_version') + 10000000)")
    post_student(api, 2)

    assert len(streamed()) == 2


def test_a_batch_that_failed_is_delivered_again(api, streamed, sink):
    post_student(api, 1)
    sink.is_broken = True
    with pytest.raises(SinkFailed):
        streamed()
    assert ChangeConsumer.objects.get().change_version < Document.objects.get().change_version

    sink.is_broken = False

    assert len(streamed()) == 1


def test_an_uncommitted_change_is_delivered_after_commit_only(committing_api, streamed):
    """Not even after a later change that is committed already."""
    has_written, may_commit = threading.Event(), threading.Event()

    def write():
        with transaction.atomic():
            post_student(committing_api, "slow")
            has_written.set()
            may_commit.wait(30)
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    has_written.wait(30)
    post_student(committing_api, "fast")
    early = values(streamed(), "naturalKey")
    may_commit.set()
    writer.join()

    assert early == []
    assert values(streamed(), "naturalKey") == [("NK#studentUniqueId=slow",), ("NK#studentUniqueId=fast",)]


def test_a_consumer_is_read_by_one_process_at_a_time(db):
    refusals = []

    def read():
        try:
            with Consumer("tests"):
                pass
        except ConsumerIsBusy as refusal:
            refusals.append(str(refusal))
        connection.close()

    with Consumer("tests"):
        other = threading.Thread(target=read)
        other.start()
        other.join()

    assert refusals == ["another process reads the changes as 'tests'"]
    with Consumer("tests"):
        pass


def test_a_delete_has_its_body_until_it_expires(api, streamed):
    path = item_path(post_student(api, 1))
    api.delete(path)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE deleted_document SET body = NULL")

    assert values(streamed(), "operation", "body") == [("delete", None)]

"""Pushing to another Ed-Fi API: what it has afterwards, in which order it was sent, and what it has refused."""

import time

import pytest
from django.contrib.auth.models import User

from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.exchange.push.models import SentDocument
from edfi_api.features.refusals.models import Refusal
from tests.features.exchange.random_changes import enrollment, path_of
from tests.features.exchange.random_changes import school as school_body
from tests.features.exchange.reference_target import Answer
from tests.support.admin_users import client_of
from tests.support.factories import STUDENT

PERIOD = {"classPeriodName": "First", "schoolReference": {"schoolId": 7}}
BELLS = {
    "bellScheduleName": "Usual",
    "schoolReference": {"schoolId": 7},
    "classPeriods": [{"classPeriodReference": {"schoolId": 7, "classPeriodName": "First"}}],
}


@pytest.fixture
def school(api, descriptors) -> None:
    path_of(api.post("/schools", school_body(7)))


def test_documents_arrive_behind_what_they_refer_to(api, school, target, pushed):
    path_of(api.post("/classPeriods", PERIOD))
    path_of(api.post("/bellSchedules", BELLS))

    figures = pushed()

    assert [endpoint for _, endpoint in target.writes()][-3:] == ["schools", "classPeriods", "bellSchedules"]
    assert target.bodies("/ed-fi/bellSchedules") == [BELLS]
    assert (figures.written, figures.deleted, figures.refused) == (len(target.stored), 0, 0)
    assert pushed().written == 0


def test_changes_of_a_document_that_wait_together_are_sent_once(api, target, pushed):
    path_of(api.post("/students", STUDENT))
    path_of(api.post("/students", STUDENT | {"firstName": "May"}))

    assert pushed().written == 1
    assert target.bodies("/ed-fi/students") == [STUDENT | {"firstName": "May"}]


def test_a_deleted_document_is_deleted_by_its_id_there(api, target, pushed):
    path = path_of(api.post("/students", STUDENT))
    pushed()
    assert api.delete(path).status_code == 204

    assert pushed().deleted == 1
    assert [method for method, _ in target.writes()] == ["POST", "DELETE"]
    assert not target.stored and not SentDocument.objects.exists()


def test_a_deleted_document_that_came_there_another_way_is_found_by_its_key(api, target, pushed):
    path = path_of(api.post("/students", STUDENT))
    pushed()
    SentDocument.objects.all().delete()
    assert api.delete(path).status_code == 204

    assert pushed().deleted == 1
    assert not target.stored


def test_a_document_that_was_never_there_is_deleted(api, target, pushed):
    assert api.delete(path_of(api.post("/students", STUDENT))).status_code == 204

    assert pushed().deleted == 1
    assert target.writes() == []


@pytest.mark.parametrize("changes_keys", [True, False])
def test_a_changed_key_is_changed_there(api, school, target, pushed, changes_keys):
    target.changes_keys = changes_keys
    path = path_of(api.post("/classPeriods", PERIOD))
    path_of(api.post("/bellSchedules", BELLS))
    pushed()
    body = PERIOD | {"classPeriodName": "Second", "id": path.rpartition("/")[2]}
    assert api.put(path, body).status_code == 204

    figures = pushed()

    assert target.bodies("/ed-fi/classPeriods") == [PERIOD | {"classPeriodName": "Second"}]
    [bells] = target.bodies("/ed-fi/bellSchedules")
    assert bells["classPeriods"] == [{"classPeriodReference": {"schoolId": 7, "classPeriodName": "Second"}}]
    assert figures.refused == 0
    assert set(SentDocument.objects.values_list("remote_id", flat=True)) == {each.id for each in target.stored.values()}


def test_a_key_that_another_document_has_given_up_is_taken(api, school, target, pushed):
    first = path_of(api.post("/classPeriods", PERIOD))
    pushed()
    assert api.put(first, PERIOD | {"classPeriodName": "Second", "id": first.rpartition("/")[2]}).status_code == 204
    path_of(api.post("/classPeriods", PERIOD | {"officialAttendancePeriod": True}))
    target.fault = lambda number, method, path: time.sleep(0.1) if method == "PUT" else None

    assert pushed().refused == 0
    assert target.bodies("/ed-fi/classPeriods") == [
        PERIOD | {"officialAttendancePeriod": True},
        PERIOD | {"classPeriodName": "Second"},
    ]


def test_what_is_sent_again_from_the_beginning_takes_nothing_from_others(api, school, target, pushed):
    """A process may be killed after everything has been sent, and before the position moves."""
    first = path_of(api.post("/classPeriods", PERIOD))
    pushed()
    position = ChangeConsumer.objects.get().change_version

    def rename(path: str, name: str) -> None:
        body = PERIOD | {"classPeriodName": name, "id": path.rpartition("/")[2]}
        assert api.put(path, body).status_code == 204

    rename(first, "Second")
    path_of(api.post("/classPeriods", PERIOD))
    rename(first, "Third")
    path_of(api.post("/classPeriods", PERIOD | {"classPeriodName": "Second"}))
    path_of(api.post("/bellSchedules", BELLS | {"classPeriods": [_of("Second"), _of("Third")]}))
    for _ in range(3):
        pushed()
        ChangeConsumer.objects.update(change_version=position)

        assert [each["classPeriodName"] for each in target.bodies("/ed-fi/classPeriods")] == [
            "First",
            "Second",
            "Third",
        ]
    pushed()
    assert [each["classPeriodName"] for each in target.bodies("/ed-fi/classPeriods")] == ["First", "Second", "Third"]
    assert not SentDocument.objects.filter(refused_at__isnull=False).exists()
    assert set(Refusal.objects.filter(resolved_at=None)) == set()


def _of(name: str) -> dict:
    return {"classPeriodReference": {"schoolId": 7, "classPeriodName": name}}


def test_a_document_that_was_deleted_and_created_again_is_there(api, target, pushed):
    for _ in range(2):
        path = path_of(api.post("/students", STUDENT))
        pushed()
        assert api.delete(path).status_code == 204
        path_of(api.post("/students", STUDENT | {"firstName": "May"}))
        pushed()
        assert target.bodies("/ed-fi/students") == [STUDENT | {"firstName": "May"}]
        assert api.delete(path_of(api.post("/students", STUDENT))).status_code == 204
    pushed()

    assert not target.stored


def test_deletes_are_sent_behind_those_of_their_referrers(api, school, target, pushed):
    period = path_of(api.post("/classPeriods", PERIOD))
    bells = path_of(api.post("/bellSchedules", BELLS))
    pushed()
    for path in (bells, period):
        assert api.delete(path).status_code == 204

    figures = pushed()

    assert (figures.deleted, figures.refused) == (2, 0)
    assert target.writes()[-2:] == [("DELETE", "bellSchedules"), ("DELETE", "classPeriods")]


def test_batches_are_halved_until_they_are_taken(api, school, target, pushed):
    target.batch_size = 3
    path_of(api.post("/classPeriods", PERIOD))
    period = path_of(api.post("/classPeriods", PERIOD | {"classPeriodName": "Second"}))
    path_of(api.post("/bellSchedules", BELLS))
    for number in range(8):
        path_of(api.post("/students", STUDENT | {"studentUniqueId": str(number)}))
    target.refuses = lambda _, method, endpoint, body: (
        Answer(400, {"title": "No"}) if endpoint == "students" and body["studentUniqueId"] == "3" else None
    )

    figures = pushed()

    assert (figures.written, figures.refused) == (len(target.stored), 1)
    assert {path for _, path in target.requests} == {"/batch"}
    assert Refusal.objects.get().natural_key == "NK#studentUniqueId=3"
    assert api.delete(period).status_code == 204
    assert pushed().deleted == 1
    assert target.bodies("/ed-fi/classPeriods") == [PERIOD]


def test_a_refusal_is_in_the_ledger_until_it_is_accepted(api, target, pushed, connection):
    target.refuses = lambda *_: Answer(400, {"title": "No", "errors": ["Not this one."], "correlationId": "c-1"})
    path_of(api.post("/students", STUDENT))

    figures = pushed()

    entry = Refusal.objects.get()
    assert (figures.written, figures.refused) == (0, 1)
    assert (entry.direction, entry.status, entry.title, entry.errors) == ("sent", 400, "No", ["Not this one."])
    assert entry.natural_key == "NK#studentUniqueId=604822" and entry.correlation_id == "c-1"
    assert (entry.client, entry.resource) == (connection.api_client_id, "/ed-fi/students")
    target.refuses = lambda *_: None
    assert pushed().written == 0
    assert pushed(retries=True).written == 1
    assert Refusal.objects.get().resolution == "succeeded"
    assert not SentDocument.objects.filter(refused_at__isnull=False).exists()


def test_what_waits_for_a_refused_document_is_sent_when_that_is_accepted(api, school, target, pushed):
    target.refuses = lambda _, method, endpoint, body: (
        Answer(400, {"title": "No"}) if endpoint == "classPeriods" and "officialAttendancePeriod" not in body else None
    )
    path_of(api.post("/classPeriods", PERIOD))
    path_of(api.post("/bellSchedules", BELLS))

    assert pushed().refused == 2
    waiting = Refusal.objects.get(resource="/ed-fi/bellSchedules")
    assert waiting.cause_text == "ClassPeriod NK#classPeriodName=First#schoolReference.schoolId=7 is missing"
    path_of(api.post("/classPeriods", PERIOD | {"officialAttendancePeriod": True}))

    assert pushed().written == 2
    assert target.bodies("/ed-fi/bellSchedules") == [BELLS]
    assert set(Refusal.objects.values_list("resolution", flat=True)) == {"succeeded"}


def test_a_person_that_may_only_be_changed_after_an_association_is_sent_again_behind_it(api, school, target, pushed):
    def refuse_without_association(state, method, endpoint, body):
        has_association = any(each.path == "/ed-fi/studentSchoolAssociations" for each in state.stored.values())
        return Answer(403, {"title": "Access Denied"}) if endpoint == "students" and not has_association else None

    path_of(api.post("/students", STUDENT))
    pushed()
    path_of(api.post("/students", STUDENT | {"firstName": "May"}))
    path_of(api.post("/studentSchoolAssociations", enrollment("604822", 7)))
    target.refuses = refuse_without_association

    assert pushed().refused == 0
    assert target.bodies("/ed-fi/students") == [STUDENT | {"firstName": "May"}]


def test_a_steward_has_refused_documents_sent_again(api, target, pushed):
    target.refuses = lambda *_: Answer(400, {"title": "No"})
    path_of(api.post("/students", STUDENT))
    pushed()
    target.refuses = lambda *_: None
    steward = client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))
    chosen = {"action": "send_again", "_selected_action": [str(Refusal.objects.get().pk)]}

    page = steward.post("/admin/refusals/refusal/", chosen, follow=True)

    assert "1 document will be sent by push_changes" in page.content.decode()
    assert pushed().written == 1
    assert target.bodies("/ed-fi/students") == [STUDENT]


def test_a_delete_that_is_refused_is_tried_again_when_another_has_succeeded(api, school, target, pushed):
    period = path_of(api.post("/classPeriods", PERIOD))
    other = path_of(api.post("/students", STUDENT))
    pushed()
    target.refuses = lambda _, method, endpoint, body: (
        Answer(
            409, {"type": "urn:ed-fi:api:data-conflict:dependent-item-exists", "title": "Dependent", "detail": "By x."}
        )
        if (method, endpoint) == ("DELETE", "classPeriods")
        else None
    )
    assert api.delete(period).status_code == 204
    assert pushed().refused == 1
    entry = Refusal.objects.get()
    assert (entry.operation, entry.direction, entry.natural_key) == (
        "delete",
        "sent",
        "NK#classPeriodName=First#schoolReference.schoolId=7",
    )
    target.refuses = lambda *_: None
    assert api.delete(other).status_code == 204

    assert pushed().deleted == 2
    assert not target.bodies("/ed-fi/classPeriods")
    assert Refusal.objects.get().resolution == "deleted"


def test_a_replaced_document_that_cannot_be_deleted_is_one_refusal(api, school, target, pushed):
    target.changes_keys = False
    path = path_of(api.post("/classPeriods", PERIOD))
    students = [path_of(api.post("/students", STUDENT | {"studentUniqueId": str(each)})) for each in range(3)]
    pushed()
    target.refuses = lambda _, method, endpoint, body: (
        Answer(409, {"title": "Dependent"}) if (method, endpoint) == ("DELETE", "classPeriods") else None
    )
    renamed = PERIOD | {"classPeriodName": "Second", "id": path.rpartition("/")[2]}
    assert api.put(path, renamed).status_code == 204
    pushed()
    for each in students[:2]:
        assert api.delete(each).status_code == 204
        pushed()

    assert Refusal.objects.get().resolved_at is None
    assert len(target.bodies("/ed-fi/classPeriods")) == 2
    target.refuses = lambda *_: None
    pushed(retries=True)
    assert target.bodies("/ed-fi/classPeriods") == [PERIOD | {"classPeriodName": "Second"}]
    assert Refusal.objects.get().resolved_at is not None
    assert not SentDocument.objects.filter(refused_at__isnull=False).exists()


def test_descriptors_have_the_words_of_the_other_side(api, school, target, pushed, connection):
    here = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"
    connection.descriptor_mapping = f"uri://state.example/GradeLevelDescriptor#9,{here}"
    connection.save()
    path_of(api.post("/students", STUDENT))
    enrolled = path_of(api.post("/studentSchoolAssociations", enrollment("604822", 7)))

    pushed()

    [sent] = target.bodies("/ed-fi/studentSchoolAssociations")
    assert sent["entryGradeLevelDescriptor"] == "uri://state.example/GradeLevelDescriptor#9"
    assert not target.bodies("/ed-fi/gradeLevelDescriptors")
    SentDocument.objects.all().delete()
    assert api.delete(enrolled).status_code == 204
    assert pushed().deleted == 1


def test_documents_are_sent_under_a_profile_of_the_other_side(api, target, pushed, connection):
    connection.write_profile = "State-Report"
    connection.save()
    path_of(api.post("/students", STUDENT))

    pushed()

    assert target.content_types == {"application/vnd.ed-fi.student.state-report.writable+json"}


def test_only_selected_resources_are_sent(api, school, target, pushed, connection):
    connection.selection, connection.resources, connection.with_descriptors = "include", ["ed-fi/classPeriods"], False
    connection.save()
    path_of(api.post("/students", STUDENT))
    path_of(api.post("/classPeriods", PERIOD))

    pushed()

    assert target.bodies("/ed-fi/classPeriods") == [PERIOD]
    assert not target.bodies("/ed-fi/students") and not target.bodies("/ed-fi/gradeLevelDescriptors")

"""Restoring deleted documents, provided that their references still resolve and their keys are free."""

import re
from datetime import timedelta
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.utils import timezone

from edfi_api.core.models import Document
from edfi_api.features.changes.change_queries.models import ChangeConsumer, DeletedDocument, SupersededDocument
from references.models import Reference
from tests.conftest import item_path
from tests.support.factories import STUDENT


@pytest.fixture
def student(api):
    return item_path(api.post("/students", STUDENT))


def id_of(path):
    return path.rsplit("/", 1)[1]


def restore(*ids):
    """Whether the command succeeds, and its message."""
    out, err = StringIO(), StringIO()
    try:
        call_command("restore_document", *ids, stdout=out, stderr=err)
    except CommandError as error:
        return False, f"{err.getvalue()}{error}"
    return True, out.getvalue()


def test_a_deleted_document_is_restored_under_its_id(api, student):
    before = api.get(student).json()
    created = Document.objects.values("created_by", "created_at").get()
    api.delete(student)

    assert restore(id_of(student)) == (True, f"{id_of(student)} restored\n")

    after = api.get(student).json()
    assert {**after, "_etag": "", "_lastModifiedDate": ""} == {**before, "_etag": "", "_lastModifiedDate": ""}
    assert Document.objects.values("created_by", "created_at").get() == created


def test_change_queries_report_a_restored_document_as_an_insert(api, changes, student):
    api.delete(student)
    newest = changes.newest()
    restore(id_of(student))

    assert changes.deletes("students") == []
    assert [each["id"] for each in changes.live("students", newest + 1)] == [id_of(student)]
    assert Document.objects.get().operation is None  # an insert


def test_references_are_restored(api, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    association = Document.objects.get(resource_type__name="StudentSchoolAssociation")
    references = set(Reference.objects.filter(document=association).values_list("alias_id", flat=True))
    api.delete(f"/studentSchoolAssociations/{association.document_uuid}")

    restore(str(association.document_uuid))

    again = Document.objects.get(document_uuid=association.document_uuid)
    assert set(Reference.objects.filter(document=again).values_list("alias_id", flat=True)) == references


def test_missing_references_are_reported(api, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    association = Document.objects.get(resource_type__name="StudentSchoolAssociation")
    student = Document.objects.get(resource_type__name="Student")
    api.delete(f"/studentSchoolAssociations/{association.document_uuid}")
    api.delete(f"/students/{student.document_uuid}")

    is_restored, message = restore(str(association.document_uuid))

    assert not is_restored
    assert "$.studentReference: The referenced Student item does not exist." in message
    assert not Document.objects.filter(resource_type__name="StudentSchoolAssociation").exists()

    assert restore(str(student.document_uuid), str(association.document_uuid))[0]


def test_a_natural_key_that_is_taken_is_reported(api, student):
    api.delete(student)
    api.post("/students", STUDENT | {"firstName": "Another"})

    is_restored, message = restore(id_of(student))

    assert not is_restored
    assert "(studentUniqueId = 604822)" in message
    assert Document.objects.get().body["firstName"] == "Another"


def test_a_document_that_was_never_deleted_cannot_be_restored(api, student):
    assert "No deleted document has the id" in restore(id_of(student))[1]
    assert "No deleted document has the id" in restore(str(uuid4()))[1]


def test_a_document_that_was_restored_is_left_unchanged(api, student):
    api.delete(student)
    restore(id_of(student))
    version = Document.objects.get().change_version

    is_restored, message = restore(id_of(student))

    assert not is_restored
    assert "NK#studentUniqueId=604822 is there." in message
    assert Document.objects.get().change_version == version


def test_the_last_state_is_restored_however_often_it_was_deleted(api, student):
    api.delete(student)
    restore(id_of(student))
    api.put(student, api.get(student).json() | {"firstName": "May"})
    api.delete(student)

    restore(id_of(student))

    assert api.get(student).json()["firstName"] == "May"


def purge(days):
    out = StringIO()
    call_command("purge_changes", days=days, stdout=out)
    return out.getvalue()


def long_ago():
    """Makes all rows 100 days older."""
    past = timezone.now() - timedelta(days=100)
    DeletedDocument.objects.update(deleted_at=past)
    SupersededDocument.objects.update(superseded_at=past)


def test_bodies_of_deletes_expire_but_deletes_are_kept(api, changes, student):
    api.put(student, api.get(student).json() | {"firstName": "May"})
    api.delete(student)
    deletes = changes.deletes("students")
    assert purge(days=90) == "0 superseded versions and the bodies of 0 deleted documents purged\n"

    long_ago()
    assert purge(days=90) == "1 superseded version and the bodies of 1 deleted document purged\n"

    assert changes.deletes("students") == deletes
    assert re.search(r"The body of NK#studentUniqueId=604822, deleted .*, was purged\.", restore(id_of(student))[1])
    assert purge(days=90).startswith("0 superseded versions and the bodies of 0")


def test_bodies_that_a_consumer_has_not_read_are_kept(api, student):
    api.put(student, api.get(student).json() | {"firstName": "May"})
    api.delete(student)
    long_ago()
    seen = SupersededDocument.objects.get().change_version
    consumer = ChangeConsumer.objects.create(name="lake", change_version=seen)
    ChangeConsumer.objects.create(log="validation", name="steward")  # It reads no documents.

    message = purge(days=90)

    assert message.splitlines() == [
        "1 superseded version and the bodies of 0 deleted documents purged",
        f"kept: everything behind version {seen}, for lake",
    ]
    consumer.change_version = DeletedDocument.objects.get().change_version
    consumer.save()
    assert "the bodies of 1 deleted" in purge(days=90)


@pytest.fixture
def admin(client, admin_user):
    client.force_login(admin_user)
    return client


LIST = "/admin/change_queries/deleteddocument/"


def test_the_admin_lists_deleted_documents_and_restores_them(api, student, admin):
    api.delete(student)
    row = DeletedDocument.objects.get().pk

    listed = admin.get(LIST)
    shown = admin.get(f"{LIST}{row}/change/")
    answer = admin.post(LIST, {"action": "restore", "_selected_action": [row]}, follow=True)

    assert "studentUniqueId=604822" in listed.content.decode()
    assert ">tests</td>" in listed.content.decode(), "the API client that deleted it"
    assert "can be restored" in listed.content.decode()
    assert "Ortiz" in shown.content.decode()
    assert "is restored." in answer.content.decode()
    assert api.get(student).status_code == 200
    assert "restored" in admin.get(LIST).content.decode()


def test_the_admin_says_why_a_document_cannot_be_restored(api, student, admin):
    api.delete(student)
    api.post("/students", STUDENT)
    row = DeletedDocument.objects.get().pk

    answer = admin.post(LIST, {"action": "restore", "_selected_action": [row]}, follow=True)

    assert "cannot be restored" in answer.content.decode()
    assert Document.objects.get().document_uuid != UUID(id_of(student))


def test_the_admin_restores_a_bounded_number_at_once(api, student, admin, monkeypatch):
    api.delete(student)
    api.delete(item_path(api.post("/students", STUDENT | {"studentUniqueId": "604823"})))
    selected = {"action": "restore", "_selected_action": list(DeletedDocument.objects.values_list("pk", flat=True))}
    monkeypatch.setattr("edfi_api.features.changes.change_queries.admin.MOST_AT_ONCE", 1)

    answer = admin.post(LIST, selected, follow=True)

    assert "Nothing was restored: more than 1 documents at once. Use restore_document." in answer.content.decode()
    assert not Document.objects.exists()


def test_restoring_requires_the_permission(api, student, client, django_user_model):
    viewer = django_user_model.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename="view_deleteddocument"))
    client.force_login(viewer)
    api.delete(student)
    row = DeletedDocument.objects.get().pk

    client.post(LIST, {"action": "restore", "_selected_action": [row]}, follow=True)

    assert not Document.objects.exists()


@pytest.mark.parametrize(
    ("days", "reason"),
    [
        ("-5", "-5 is not between 0 and 36500"),
        ("999999999999", "999999999999 is not between 0 and 36500"),
        ("soon", "'soon' is not a whole number"),
    ],
)
def test_an_invalid_number_of_days_is_refused(api, student, days, reason):
    api.delete(student)

    with pytest.raises(CommandError, match=reason):
        call_command("purge_changes", f"--days={days}")

    assert restore(id_of(student))[0]


def test_an_invalid_retention_setting_is_refused(api, student, settings):
    settings.EDFI_API = {**settings.EDFI_API, "CHANGE_RETENTION_DAYS": -5}
    api.delete(student)

    with pytest.raises(CommandError, match="-5 is not between 0 and 36500"):
        call_command("purge_changes")

    assert restore(id_of(student))[0]

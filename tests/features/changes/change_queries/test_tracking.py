"""The history that triggers record for every kind of write."""

import json

import pytest
from django.test.utils import CaptureQueriesContext

from edfi_api.core.models import Document, ResourceType
from edfi_api.core.security.models import ApiClient
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.changes.change_queries.models import DeletedDocument, KeyChange, KeyField, SupersededDocument
from edfi_api.features.changes.change_queries.tracked_changes import synchronize
from edfi_api.features.loading.bulk import Candidate, write_documents
from tests.conftest import item_path
from tests.support.databases import DOCUMENTS, connection
from tests.support.factories import STUDENT


@pytest.fixture
def client(api):
    return ApiClient.objects.get().pk


@pytest.fixture
def student(api):
    return item_path(api.post("/students", STUDENT))


def changes():
    """(operation, version) of all changes in order."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT operation, change_version FROM document_change ORDER BY change_version")
        return cursor.fetchall()


def test_an_insert_writes_no_history(api, student, client):
    document = Document.objects.get()

    assert (document.operation, document.last_modified_by) == (None, client)
    assert changes() == [("insert", document.change_version)]
    assert not SupersededDocument.objects.exists()


def test_an_update_keeps_the_version_that_it_supersedes(api, student, client):
    before = Document.objects.get()

    api.post("/students", STUDENT | {"firstName": "May"})

    after, kept = Document.objects.get(), SupersededDocument.objects.get()
    assert (kept.operation, kept.change_version) == ("insert", before.change_version)
    assert (kept.body, kept.last_modified_by, kept.last_modified_at) == (before.body, client, before.last_modified_at)
    assert after.operation == "update"
    assert changes() == [("insert", before.change_version), ("update", after.change_version)]


def test_the_same_content_again_is_no_change(api, student):
    before = changes()

    api.post("/students", STUDENT)
    api.put(student, api.get(student).json())

    assert changes() == before


def test_a_delete_keeps_the_document_and_its_deleter(api, student, client):
    before = Document.objects.get()

    api.delete(student)

    kept = DeletedDocument.objects.get()
    assert (kept.document_uuid, kept.natural_key, kept.body) == (before.document_uuid, before.natural_key, before.body)
    assert kept.key_values == {"studentUniqueId": "604822"}
    assert (kept.last_change_version, kept.last_operation) == (before.change_version, "insert")
    assert (kept.created_by, kept.last_modified_by, kept.deleted_by) == (client, client, client)
    assert changes() == [("insert", before.change_version), ("delete", kept.change_version)]


def test_a_delete_by_sql_has_an_unknown_user(api, student):
    api.delete(item_path(api.post("/students", STUDENT | {"studentUniqueId": "2"})))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL meadowlark.client = ''")
        cursor.execute("DELETE FROM document")

    assert DeletedDocument.objects.get(key_values={"studentUniqueId": "604822"}).deleted_by is None


def test_a_refused_delete_writes_no_history(api, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    student = Document.objects.get(resource_type__name="Student")

    response = api.delete(f"/students/{student.document_uuid}")

    assert response.status_code == 409
    assert not DeletedDocument.objects.exists()


def test_a_key_change_keeps_old_and_new_values_of_the_document_and_its_referrers(api, documents, resource_named):
    documents.store(resource_named("Section"))
    session = Document.objects.get(resource_type__name="Session")
    path = f"/sessions/{session.document_uuid}"

    api.put(path, api.get(path).json() | {"sessionName": "Autumn"})

    changed = {change.resource_type.name: change for change in KeyChange.objects.all()}
    assert set(changed) == {"Session", "CourseOffering", "Section"}
    for change in changed.values():
        assert change.old_key_values["sessionName"] == session.body["sessionName"]
        assert change.new_key_values == change.old_key_values | {"sessionName": "Autumn"}
        document = Document.objects.get(document_uuid=change.document_uuid)
        assert (document.operation, document.change_version) == ("key_change", change.change_version)


def test_a_referrer_whose_key_does_not_change_is_an_update(api, documents, resource_named):
    documents.store(resource_named("BellSchedule"))
    period = Document.objects.get(resource_type__name="ClassPeriod")
    schedule = Document.objects.get(resource_type__name="BellSchedule")
    body = schedule.body | {
        "classPeriods": [
            {"classPeriodReference": {"classPeriodName": period.body["classPeriodName"], "schoolId": 1008}}
        ]
    }
    assert api.post("/bellSchedules", body).status_code == 200
    path = f"/classPeriods/{period.document_uuid}"

    api.put(path, api.get(path).json() | {"classPeriodName": "Period 1"})

    assert Document.objects.get(resource_type__name="BellSchedule").operation == "update"
    assert KeyChange.objects.get().document_uuid == period.document_uuid


def test_a_descriptor_in_another_case_is_no_key_change(api):
    descriptor = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Other", "shortDescription": "Other"}
    api.post("/sexDescriptors", descriptor)

    response = api.post("/sexDescriptors", descriptor | {"codeValue": "OTHER", "shortDescription": "Another"})

    assert response.status_code == 200
    assert Document.objects.get(resource_type__name="SexDescriptor").operation == "update"
    assert not KeyChange.objects.exists()


def test_bulk_loads_are_tracked_like_single_writes(api, student, resource_named):
    students = resource_named("Student")
    bodies = [STUDENT | {"firstName": "May"}, STUDENT | {"studentUniqueId": "2"}, STUDENT | {"firstName": "Maya"}]

    written = write_documents((Candidate.of(students, body, "students") for body in bodies), DOCUMENTS)

    assert [each.result for each in written] == [Outcome.UPDATED, Outcome.INSERTED, Outcome.UPDATED]
    kept = SupersededDocument.objects.order_by("change_version")
    assert [(version.operation, version.body["firstName"]) for version in kept] == [
        ("insert", "Mae"),
        ("update", "May"),
    ]
    assert sorted(operation for operation, _ in changes()) == ["insert", "insert", "update", "update"]


def test_every_change_has_its_own_version(api, documents, resource_named):
    documents.store(resource_named("Grade"))
    session = Document.objects.get(resource_type__name="Session")
    path = f"/sessions/{session.document_uuid}"
    api.put(path, api.get(path).json() | {"sessionName": "Autumn"})
    grade = Document.objects.get(resource_type__name="Grade")
    api.delete(f"/grades/{grade.document_uuid}")

    versions = [version for _, version in changes()]

    assert len(versions) == len(set(versions)) > 20


def test_every_resource_has_key_values(surface, documents, db):
    """By query names, for all shapes of keys: nested, unified, of a subclass, of a descriptor."""
    bodies = [(resource, documents.minimal_body(resource)) for resource in surface.resources]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT jsonb_object_agg(t.name, key_values(t.id, sent.body::jsonb))"
            "  FROM unnest(%s::text[], %s::text[], %s::text[]) AS sent (project, name, body)"
            "  JOIN resource_type t USING (project, name)",
            [
                [resource.name.project for resource, _ in bodies],
                [resource.name.resource for resource, _ in bodies],
                [json.dumps(body) for _, body in bodies],
            ],
        )
        found = json.loads(cursor.fetchone()[0])

    assert len(found) == len(surface.resources)
    assert all(values and None not in values.values() for values in found.values())
    assert found["School"] == {"schoolId": 1008}
    assert set(found["SexDescriptor"]) == {"namespace", "codeValue"}
    assert set(found["StudentSchoolAssociation"]) == {"studentUniqueId", "schoolId", "entryDate"}


def key_fields():
    return list(KeyField.objects.order_by("pk").values_list("resource_type_id", "name", "path"))


def test_key_fields_follow_the_surface(surface, db):
    """After a migration to another standard; correct rows stay unchanged."""
    right = key_fields()
    school = ResourceType.objects.get(name="School").pk
    KeyField.objects.filter(resource_type=school).update(path=["formerlySchoolId"])
    KeyField.objects.create(resource_type_id=school, name="outdated", path=["outdated"], ignores_case=False)

    synchronize(surface.resources, DOCUMENTS)

    assert key_fields() == right
    with CaptureQueriesContext(connection) as queries:
        synchronize(surface.resources, DOCUMENTS)
    assert not [query for query in queries if query["sql"].startswith(("INSERT", "DELETE"))]

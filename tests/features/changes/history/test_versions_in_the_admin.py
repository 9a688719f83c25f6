"""The history of a document in the admin, and restoring a version."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test.utils import CaptureQueriesContext

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.features.changes.history.versions import history, update
from tests.support.admin_users import client_of
from tests.support.class_periods import PERIOD, store_school
from tests.support.databases import connection
from tests.support.factories import STUDENT


@pytest.fixture
def steward(db):
    return client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))


@pytest.fixture
def student(api):
    path = item_path(api.post("/students", STUDENT))
    update(api, path, STUDENT | {"lastSurname": "Oritz"})
    return path


def page_of(resource: str, document_id: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM resource_type WHERE name = %s", [resource])
        [(number,)] = cursor.fetchall()
    return f"/admin/edfi_api/document/versions/{number}/{document_id}/"


def versions_page(path: str) -> str:
    return page_of("Student", path.rpartition("/")[2])


def restored(client, page, version):
    return client.post(page, {"version": version}, follow=True).content.decode()


def test_versions_are_shown_with_writer_and_differences(steward, student):
    page = steward.get(versions_page(student)).content.decode()
    row = Document.objects.get(resource_type__name="Student").pk

    assert "<del>Ortiz</del>" in page
    assert "<ins>Oritz</ins>" in page
    assert "by</span> tests" in page
    assert versions_page(student) in steward.get(f"/admin/edfi_api/document/{row}/change/").content.decode()


def test_a_version_is_restored_as_an_update(steward, api, student):
    first = history(api, student)[-1]

    page = restored(steward, versions_page(student), first["changeVersion"])

    assert f"Version {first['changeVersion']} is restored." in page
    assert api.get(student).json()["lastSurname"] == "Ortiz"
    assert [each["operation"] for each in history(api, student)] == ["update", "update", "insert"]


def test_a_deleted_document_is_restored_in_an_older_version(steward, api, student):
    first = history(api, student)[-1]
    api.delete(student)

    restored(steward, versions_page(student), first["changeVersion"])

    assert api.get(student).json()["lastSurname"] == "Ortiz"


def test_a_version_whose_references_are_gone_is_not_restored(steward, api):
    store_school(api, 7)
    store_school(api, 8)
    path = item_path(api.post("/classPeriods", PERIOD))
    update(api, path, PERIOD | {"schoolReference": {"schoolId": 8}})
    first = history(api, path)[-1]
    [school] = api.get("/schools?schoolId=7").json()
    assert api.delete(f"/schools/{school['id']}").status_code == 204

    page = restored(steward, page_of("ClassPeriod", path.rpartition("/")[2]), first["changeVersion"])

    assert "cannot be restored: $.schoolReference: The referenced School item does not exist." in page
    assert api.get(path).json()["schoolReference"]["schoolId"] == 8


@pytest.mark.parametrize("version", ["", "nonsense", "-1", "999999999", "9" * 30])
def test_what_is_no_version_is_not_restored(steward, student, version):
    assert "cannot be restored" in restored(steward, versions_page(student), version)


def test_restoring_needs_permissions(api, student):
    user = User.objects.create(username="reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_document"))
    reader = client_of(user)

    assert "Restore this version" not in reader.get(versions_page(student)).content.decode()
    assert reader.post(versions_page(student), {"version": 1}).status_code == 403


def test_versions_need_the_permission_to_view_documents(student):
    stranger = client_of(User.objects.create(username="stranger", is_staff=True))

    assert stranger.get(versions_page(student)).status_code == 403


def test_unknown_documents_and_resources_are_not_found(steward, student):
    other = "0193a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b"

    assert steward.get(versions_page(other)).status_code == 404
    assert steward.get(versions_page(student).replace("/versions/", "/versions/9")).status_code == 404


def test_the_page_takes_a_bounded_number_of_queries(steward, student):
    steward.get(versions_page(student))

    with CaptureQueriesContext(connection) as queries:
        steward.get(versions_page(student))

    assert len(queries) <= 7  # Two of them are the savepoint of a test.


def test_a_restoration_is_previewed_and_names_its_user(steward, api, student):
    first = history(api, student)[-1]
    preview = steward.get(versions_page(student), {"restore": first["changeVersion"]}).content.decode()
    assert ("<del>Oritz</del>" in preview, "<ins>Ortiz</ins>" in preview) == (True, True)
    assert api.get(student).json()["lastSurname"] == "Oritz"

    restored(steward, versions_page(student), first["changeVersion"])

    assert "by</span> steward (admin)" in steward.get(versions_page(student)).content.decode()


def test_the_preview_of_a_deleted_document_has_its_body(steward, api, student):
    first = history(api, student)[-1]
    api.delete(student)

    preview = steward.get(versions_page(student), {"restore": first["changeVersion"]}).content.decode()
    restored(steward, versions_page(student), first["changeVersion"])

    assert "comes back under its former id" in preview
    assert "by</span> steward (admin)" in steward.get(versions_page(student)).content.decode()


@pytest.mark.parametrize("version", ["", "nonsense", "999999999"])
def test_there_is_no_preview_of_what_is_no_version(steward, student, version):
    assert steward.get(versions_page(student), {"restore": version}).status_code == 404


def test_the_page_of_a_student_tells_what_refers_to_it_and_its_versions(steward, api, student):
    row = Document.objects.get(resource_type__name="Student").pk

    page = steward.get(f"/admin/edfi_api/document/{row}/change/").content.decode()
    timeline = page.partition('id="timeline"')[2].partition("</section>")[0]

    assert '<th scope="row">Last surname</th><td>Oritz</td>' in page
    assert "Nothing refers to it." in page
    assert timeline.count("<li>") == 2
    assert versions_page(student) in page

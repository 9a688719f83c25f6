"""The admin finds deleted documents by resource, key, client and day."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient
from edfi_api.features.changes.change_queries.models import DeletedDocument
from edfi_api.web.admin_kit import read_only
from tests.conftest import ApiTestClient, item_path, new_token
from tests.support.databases import connection
from tests.support.factories import STUDENT

LIST = "/admin/change_queries/deleteddocument/"


@pytest.fixture
def admin(db) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("steward"))
    return client


@pytest.fixture
def other(api) -> ApiTestClient:
    return ApiTestClient(new_token("another system"))


@pytest.fixture
def deleted(api, other, documents, resource_named, admin) -> dict[str, int]:
    """Rows: an association and its student, deleted by two clients, and a descriptor, by a user of the admin."""
    documents.store(resource_named("StudentSchoolAssociation"))
    api.delete(path_of("StudentSchoolAssociation", "studentSchoolAssociations"))
    other.delete(path_of("Student", "students"))
    sex = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Selected", "shortDescription": "X"}
    assert api.post("/sexDescriptors", sex).status_code == 201
    row = Document.objects.get(natural_key="NK#uri://ed-fi.org/SexDescriptor#Selected").pk
    admin.post(f"/admin/edfi_api/document/{row}/delete/", {"post": "yes"})
    rows = dict(DeletedDocument.objects.values_list("resource_type__name", "pk"))
    assert sorted(rows) == ["SexDescriptor", "Student", "StudentSchoolAssociation"]
    return rows


def path_of(resource: str, endpoint: str) -> str:
    return f"/{endpoint}/{Document.objects.get(resource_type__name=resource).document_uuid}"


def listed(admin: Client, **query: object) -> set[int]:
    answer = admin.get(LIST, query)
    assert answer.status_code == 200
    return {int(row) for row in re.findall(rf'<a href="{LIST}(\d+)/change/', answer.content.decode())}


def number_of(resource: str) -> int:
    return DeletedDocument.objects.get(resource_type__name=resource).resource_type_id


@pytest.mark.parametrize(
    ("text", "resources"),
    [
        ("Value", {"Student", "StudentSchoolAssociation"}),
        ("VALUE", {"Student", "StudentSchoolAssociation"}),
        ("2025-08-20", {"StudentSchoolAssociation"}),
        ("studentUniqueId=value", {"Student", "StudentSchoolAssociation"}),
        ("studentReference.studentUniqueId=Value", {"StudentSchoolAssociation"}),
        ("entryDate=Value", set()),
        ("NK#studentUniqueId=Value", {"Student", "StudentSchoolAssociation"}),
        ("NK#entryDate=2025-08-20#studentReference.studentUniqueId=Value", {"StudentSchoolAssociation"}),
        ("uri://ed-fi.org/SexDescriptor#Selected", {"SexDescriptor"}),
        ("NK#uri://ed-fi.org/sexdescriptor#SELECTED", {"SexDescriptor"}),
        ("Selected", {"SexDescriptor"}),
        ("Val", set()),
    ],
)
def test_deleted_documents_are_found_by_their_key_values(admin, deleted, text, resources):
    assert listed(admin, q=text) == {deleted[resource] for resource in resources}


@pytest.mark.parametrize(("code", "searched"), [("İzmir", "İZMIR"), ("Straße", "STRAßE"), ("ﬁrst", "ﬁRST")])
def test_deleted_documents_are_found_in_the_case_of_the_database(admin, api, code, searched):
    sex = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": code, "shortDescription": "X"}
    api.delete(item_path(api.post("/sexDescriptors", sex)))

    assert listed(admin, q=searched) == {DeletedDocument.objects.latest("pk").pk}


def test_deleted_documents_are_found_by_id(admin, deleted):
    student = DeletedDocument.objects.get(pk=deleted["Student"])

    assert listed(admin, q=str(student.document_uuid)) == {student.pk}


def test_deleted_documents_are_filtered_by_resource(admin, deleted):
    page = admin.get(LIST).content.decode()

    assert f'<a href="?resource={number_of("Student")}">Students</a>' in page
    assert not re.search(r"\?resource=\d+\">Schools</a>", page), "of which nothing was deleted"
    assert listed(admin, resource=number_of("Student")) == {deleted["Student"]}
    assert listed(admin, resource=number_of("Student"), q="2025-08-20") == set()


def test_deleted_documents_are_filtered_by_client_and_user(admin, deleted):
    tests, another = (ApiClient.objects.get(name=name).pk for name in ("tests", "another system"))

    page = admin.get(LIST).content.decode()

    assert f'<a href="?deleted_by={another}">another system</a>' in page
    assert listed(admin, deleted_by=tests) == {deleted["StudentSchoolAssociation"]}
    assert listed(admin, deleted_by=another) == {deleted["Student"]}
    assert listed(admin, deleted_by="admin") == {deleted["SexDescriptor"]}


def test_the_list_shows_the_client_or_user_of_a_delete(admin, deleted):
    page = admin.get(LIST).content.decode()

    assert re.findall(r'<td class="field-deleter">(.*?)</td>', page) == ["steward (admin)", "another system", "tests"]
    detail = admin.get(f"{LIST}{deleted['Student']}/change/").content.decode()
    assert re.search(r'<label>Deleted by:</label>\s*<div class="readonly">another system</div>', detail)
    assert re.search(r'<label>Created by:</label>\s*<div class="readonly">-</div>', detail)


def test_an_unknown_choice_of_a_filter_lists_nothing(admin, deleted):
    for text in ("x", "-1", "0", "9" * 30, "9" * 5_000, ""):
        assert listed(admin, resource=text) == set()
        assert listed(admin, deleted_by=text) == set()


def test_any_text_can_be_searched_for(admin, deleted):
    for text in ("'", "#", "=", "a=b=c", "#=#=", "NK#", "%s", "\\", '"}', "a=%_", "{x}", "\ud7ff", "x" * 10_000):
        assert admin.get(LIST, {"q": text}).status_code == 200


def test_the_list_counts_to_a_bound(admin, api, deleted, monkeypatch):
    monkeypatch.setattr(read_only, "ROWS_COUNTED", 2)

    with CaptureQueriesContext(connection) as queries:
        page = admin.get(LIST).content.decode()

    assert "more than 2 deleted documents" in page
    counting = [query["sql"] for query in queries if "COUNT(" in query["sql"]]
    assert counting and all("LIMIT 3" in sql for sql in counting)


def test_a_delete_by_an_unknown_user_stays_unknown(admin, api):
    api.post("/students", STUDENT)
    Document.objects.filter(resource_type__name="Student").delete()

    [row] = DeletedDocument.objects.values_list("deleted_by", "deleted_by_user")

    assert row == (None, None)
    assert '<td class="field-deleter">-</td>' in admin.get(LIST).content.decode()


def test_a_delete_by_a_client_after_one_by_a_user_records_the_client(admin, api):
    """Both in one transaction, which happens in tests only."""
    student = item_path(api.post("/students", STUDENT))
    admin.post(f"/admin/edfi_api/document/{Document.objects.get().pk}/delete/", {"post": "yes"})
    student = item_path(api.post("/students", STUDENT))
    api.delete(student)

    assert list(DeletedDocument.objects.order_by("pk").values_list("deleted_by_user", flat=True)) == ["steward", None]

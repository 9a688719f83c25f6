"""Documents in the Django admin: search, read and delete, independent of the size of the table."""

import re
from datetime import date

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.test.utils import CaptureQueriesContext

from edfi_api.core.models import Document, ResourceType
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient
from edfi_api.features.changes.change_queries.models import DeletedDocument
from edfi_api.site.admin_site import overview
from edfi_api.web.admin_kit import read_only, related_links
from tests.support.admin_users import client_of
from tests.support.databases import connection

LIST = "/admin/edfi_api/document/"
BY_KIND = f"{LIST}by-kind/"
_OF_TRANSACTIONS = ("SAVEPOINT", "RELEASE SAVEPOINT", "SET LOCAL")


@pytest.fixture
def admin_client(db):
    return client_of(User.objects.create(username="admin", is_staff=True, is_superuser=True))


@pytest.fixture
def association(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    documents.store(resource)
    return Document.objects.get(resource_type__name="StudentSchoolAssociation")


@pytest.fixture
def student(association):
    return Document.objects.get(resource_type__name="Student")


@pytest.fixture
def associations(api, association):
    """Four associations of one student with one school."""
    for day in range(21, 24):
        body = association.body | {"entryDate": date(2025, 8, day).isoformat()}
        assert api.post("/studentSchoolAssociations", body).status_code == 201


def listed(client: Client, **filters: object) -> set[int]:
    """Primary keys of the listed rows."""
    answer = client.get(LIST, filters)
    assert answer.status_code == 200
    return {int(row) for row in re.findall(rf'<a href="{LIST}(\d+)/change/', answer.content.decode())}


def page_of(document: Document, action: str = "change") -> str:
    return f"{LIST}{document.pk}/{action}/"


def found(client: Client, text: str, **filters: object) -> set[int]:
    """Primary keys of the rows found by a search."""
    return listed(client, q=text, **filters)


def staff_client(*permissions: str) -> Client:
    user = User.objects.create(username="staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return client_of(user)


def test_a_document_is_found_by_its_natural_key(admin_client, association):
    assert found(admin_client, association.natural_key) == {association.pk}


def test_a_document_is_found_by_a_part_of_its_natural_key(admin_client, association, student):
    part = "studentReference.studentUniqueId=Value"

    assert found(admin_client, part) == {association.pk}
    assert found(admin_client, f"NK#entryDate=2025-08-20#{part}") == {association.pk}
    assert found(admin_client, f"NK#entryDate=2025-08-21#{part}") == set()


def test_documents_are_found_by_the_name_of_a_member_of_their_key(admin_client, association, student):
    assert found(admin_client, "studentuniqueid=Value") == {association.pk, student.pk}


def test_documents_are_found_by_a_bare_value_of_their_key(admin_client, association, student):
    assert found(admin_client, "2025-08-20") == {association.pk}
    assert {association.pk, student.pk} <= found(admin_client, "Value")


def test_numbers_are_found_too(admin_client, association):
    [school] = Document.objects.filter(resource_type__name="School")

    assert found(admin_client, f"schoolId={school.body['schoolId']}") >= {association.pk, school.pk}


def test_a_search_stays_within_the_chosen_resource(admin_client, association, student):
    chosen = {"resource_type__id__exact": student.resource_type_id}

    assert found(admin_client, "studentUniqueId=Value", **chosen) == {student.pk}


def test_a_descriptor_is_found_by_its_uri_in_any_case(admin_client, association):
    grade = Document.objects.get(natural_key="NK#uri://ed-fi.org/GradeLevelDescriptor#Value")

    assert found(admin_client, grade.natural_key) == {grade.pk}
    assert found(admin_client, "uri://ed-fi.org/GRADELEVELDescriptor#value") == {grade.pk}


def test_a_document_is_found_by_its_id(admin_client, association):
    assert found(admin_client, str(association.document_uuid)) == {association.pk}


def test_any_text_can_be_searched_for(admin_client, association):
    for text in ("'", "#", "=", "a=b=c", "#=#=", "NK#", "%s", "\\", '"}', "1e9999999", "\ud7ff", "x" * 10_000):
        assert admin_client.get(LIST, {"q": text}).status_code == 200


def test_an_unknown_resource_lists_no_documents(admin_client, association):
    for number in ("9999", "99999999", "-1", "x"):
        page = admin_client.get(LIST, {"q": "Value", "resource_type__id__exact": number}, follow=True)
        assert page.status_code == 200


def test_a_document_of_another_standard_is_shown_and_kept(admin_client, association):
    ResourceType.objects.filter(pk=association.resource_type_id).update(name="PupilSchoolAssociation")

    page = admin_client.post(page_of(association, "delete"), {"post": "yes"}, follow=True).content.decode()

    assert "PupilSchoolAssociation is not part of the standard that is served" in page
    assert Document.objects.filter(pk=association.pk).exists()


def test_the_page_of_a_document_shows_body_and_related_links(admin_client, association, student):
    page = admin_client.get(page_of(association)).content.decode()

    assert "&quot;entryDate&quot;: &quot;2025-08-20&quot;" in page
    assert f'Student</span> <a href="{page_of(student)}">Value Value · Value</a>' in page
    assert f'<a href="{page_of(association)}">' in admin_client.get(page_of(student)).content.decode()


def test_a_page_names_the_clients_that_wrote_the_document(admin_client, api, associations):
    last = Document.objects.latest("id")
    other = create_client("another system", "EdFiSandbox")
    Document.objects.filter(pk=last.pk).update(last_modified_by=ApiClient.objects.get(client_id=other.key).pk)

    page = admin_client.get(page_of(last)).content.decode()

    assert re.search(r"<label>Created by:</label>\s*<div class=\"readonly\">tests</div>", page)
    assert re.search(r"<label>Last modified by:</label>\s*<div class=\"readonly\">another system</div>", page)
    assert '<td class="field-modifier">another system</td>' in admin_client.get(LIST).content.decode()


def test_no_page_links_to_the_api_which_requires_a_token(admin_client, association):
    page = admin_client.get(page_of(association)).content.decode()

    assert [link for link in re.findall(r'<a [^>]*href="([^"]*)"', page) if not link.startswith(("/admin/", "#"))] == [
        "/",
        "/guides",
        "/docs",
    ]


def test_documents_are_listed_by_what_they_refer_to(admin_client, associations, student, association):
    everything = set(
        Document.objects.filter(resource_type__name="StudentSchoolAssociation").values_list("pk", flat=True)
    )
    [school] = Document.objects.filter(resource_type__name="School")

    assert len(everything) == 4
    assert listed(admin_client, refers_to=student.pk) == everything
    assert listed(admin_client, referred_to_by=association.pk) >= {student.pk, school.pk}
    assert everything & listed(admin_client, referred_to_by=association.pk) == set()
    assert listed(admin_client, refers_to=student.pk, q="2025-08-22") == found(admin_client, "2025-08-22")
    assert listed(admin_client, refers_to=student.pk, resource_type__id__exact=school.resource_type_id) == set()


def test_a_filter_by_an_unknown_document_lists_none(admin_client, association):
    for row in ("0", "x", "-1", "9" * 30, "9" * 5_000, ""):
        assert listed(admin_client, refers_to=row) == set()
        assert listed(admin_client, referred_to_by=row) == set()


def test_a_page_lists_a_bounded_number_of_referrers(admin_client, associations, student, monkeypatch):
    monkeypatch.setattr(related_links, "_LATEST_SHOWN", 2)

    page = admin_client.get(page_of(student)).content.decode()
    kind = page.partition('id="referrers"')[2].partition("</section>")[0]

    assert "Enrolments</a> 4" in kind
    assert kind.count("Value Value · Value · 2025-08-2") == 2
    assert re.search(
        rf'<a href="{re.escape(LIST)}\?refers_to={student.pk}&amp;[^"]*">and more: list them all</a>', kind
    )


def test_a_page_shows_counts_by_kind_and_latest_changes(admin_client, association, student):
    page = admin_client.get(BY_KIND).content.decode()

    chosen = f"{LIST}?resource_type__id__exact={student.resource_type_id}"
    assert f'<td>Students</td><td class="number"><a href="{chosen}">1</a></td>' in page
    assert f'<a href="{page_of(association)}">Value Value · Value · 2025-08-20</a>' in page


def test_thousands_of_documents_are_counted_exactly(admin_client):
    students = ResourceType.objects.get(project="Ed-Fi", name="Student")
    grades = ResourceType.objects.get(project="Ed-Fi", name="GradeLevelDescriptor")
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO document (document_uuid, resource_type_id, body)"
            " SELECT gen_random_uuid(), %s, '{}' FROM generate_series(1, %s)",
            [(students.pk, 10_500), (grades.pk, 1_234)],
        )

    by_kind = admin_client.get(BY_KIND).content.decode()
    assert ">10500</a></td>" in by_kind
    assert '<td>Descriptors</td><td class="number"><a href="/admin/descriptors/descriptor/">1,234</a></td>' in by_kind
    page = admin_client.get(LIST, {"resource_type__id__exact": students.pk}).content.decode()
    assert "\n10500 documents\n" in page


def test_a_list_states_that_it_has_more_documents_than_are_counted(admin_client, associations, student, monkeypatch):
    monkeypatch.setattr(read_only, "ROWS_COUNTED", 3)

    page = admin_client.get(LIST, {"refers_to": student.pk}).content.decode()
    exact = admin_client.get(LIST, {"q": "2025-08-22"}).content.decode()

    assert "\nmore than 3 documents\n" in page
    assert "The pages show the first 3." in page
    assert "\n1 document\n" in exact


def test_many_documents_are_estimated_by_the_statistics(admin_client, associations, monkeypatch):
    monkeypatch.setattr(overview, "COUNTED", 2)
    assert ">more than 2</a></td>" in admin_client.get(BY_KIND).content.decode()

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE document")

    assert ">about 4</a></td>" in admin_client.get(BY_KIND).content.decode()


def test_pages_count_up_to_a_bound_in_few_queries(admin_client, association, student):
    """With a million rows, an unbounded count takes minutes."""
    chosen = f"resource_type__id__exact={student.resource_type_id}"
    pages = [BY_KIND, LIST, f"{LIST}?q=Value", f"{LIST}?{chosen}", f"{LIST}?{chosen}&q=Value"]
    for page in (*pages, page_of(student), page_of(student, "delete"), "/admin/descriptors/descriptor/"):
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(page).status_code == 200

        statements = [query["sql"] for query in queries if not query["sql"].startswith(_OF_TRANSACTIONS)]
        assert [sql for sql in statements if "count(" in sql.lower() and "LIMIT" not in sql] == []
        most = 28 if page == page_of(student) else 12
        assert len(statements) <= most, page


def test_documents_cannot_be_changed_in_the_admin(admin_client, association):
    assert admin_client.post(page_of(association), {"natural_key": "x"}).status_code == 403
    assert admin_client.get(f"{LIST}add/").status_code == 403


def test_a_document_is_deleted_through_the_store(admin_client, api, association):
    assert admin_client.get(page_of(association, "delete")).status_code == 200

    answer = admin_client.post(page_of(association, "delete"), {"post": "yes"}, follow=True)

    assert "was deleted successfully" in answer.content.decode()
    assert api.get(f"/studentSchoolAssociations/{association.document_uuid}").status_code == 404


def test_a_deletion_in_the_admin_records_the_user(admin_client, api, associations):
    first, second, third, _ = Document.objects.filter(resource_type__name="StudentSchoolAssociation").order_by("pk")

    admin_client.post(page_of(first, "delete"), {"post": "yes"})
    api.delete(f"/studentSchoolAssociations/{second.document_uuid}")
    selected = {"action": "delete_selected", "_selected_action": [third.pk], "post": "yes"}
    admin_client.post(LIST, selected)

    tests = ApiClient.objects.get().pk
    assert list(DeletedDocument.objects.order_by("change_version").values_list("deleted_by", "deleted_by_user")) == [
        (None, "admin"),
        (tests, None),
        (None, "admin"),
    ]


def test_a_document_that_is_referred_to_is_not_deleted(admin_client, association, student):
    for answer in (
        admin_client.get(page_of(student, "delete")),
        admin_client.post(page_of(student, "delete"), {"post": "yes"}),
    ):
        page = answer.content.decode()
        assert "Delete this student?" in page
        assert "cannot be deleted as long as other documents refer to it" in page
        assert f'<a href="{page_of(association)}">' in page

    assert Document.objects.filter(pk=student.pk).exists()


def test_a_referrer_added_before_confirmation_prevents_deletion(admin_client, association, student, monkeypatch):
    monkeypatch.setattr(related_links, "referrers", lambda documents: [])

    page = admin_client.post(page_of(student, "delete"), {"post": "yes"}, follow=True)

    assert "Nothing was deleted: enrolment" in page.content.decode()
    assert Document.objects.filter(pk=student.pk).exists()


def test_several_documents_are_deleted_with_what_they_refer_to(admin_client, association, student):
    selected = {"action": "delete_selected", "_selected_action": [student.pk, association.pk]}
    assert "Are you sure" in admin_client.post(LIST, selected).content.decode()

    page = admin_client.post(LIST, selected | {"post": "yes"}, follow=True).content.decode()

    assert "Successfully deleted 2 documents" in page
    assert not Document.objects.filter(pk__in=[student.pk, association.pk]).exists()


def test_a_deletion_of_several_documents_is_atomic(admin_client, association, monkeypatch):
    monkeypatch.setattr(related_links, "referrers", lambda documents: [])
    [grade] = Document.objects.filter(natural_key="NK#uri://ed-fi.org/GradeLevelDescriptor#Value")
    selected = {"action": "delete_selected", "_selected_action": [association.pk, grade.pk], "post": "yes"}

    page = admin_client.post(LIST, selected, follow=True).content.decode()

    assert "Nothing was deleted: school" in page
    assert Document.objects.filter(pk=association.pk).exists()


def test_deleting_requires_the_permission(association):
    client = staff_client("view_document")

    assert client.get(page_of(association)).status_code == 200
    assert client.post(page_of(association, "delete"), {"post": "yes"}).status_code == 403
    client.post(LIST, {"action": "delete_selected", "_selected_action": [association.pk], "post": "yes"})
    assert Document.objects.filter(pk=association.pk).exists()


def test_staff_with_the_permission_can_delete(association):
    client = staff_client("view_document", "delete_document")

    assert client.post(page_of(association, "delete"), {"post": "yes"}).status_code == 302
    assert not Document.objects.filter(pk=association.pk).exists()


def test_counts_by_kind_are_refused_without_the_permission(association):
    assert staff_client().get(BY_KIND).status_code == 403


def test_a_cross_site_form_deletes_nothing(admin_client, association):
    admin_client.handler.enforce_csrf_checks = True

    assert admin_client.post(page_of(association, "delete"), {"post": "yes"}).status_code == 403


def test_descriptors_are_browsed_by_namespace_and_type(admin_client, api, association):
    of_texas = {"namespace": "uri://tx.gov/GradeLevelDescriptor", "codeValue": "PK", "shortDescription": "Pre-K"}
    assert api.post("/gradeLevelDescriptors", of_texas).status_code == 201
    [grade] = Document.objects.filter(natural_key="NK#uri://tx.gov/GradeLevelDescriptor#PK")
    address = "/admin/descriptors/descriptor/"

    page = admin_client.get(address).content.decode()
    assert "?namespace=uri%3A%2F%2Fed-fi.org" in page
    assert f"?type={grade.resource_type_id}" in page
    assert "NK#studentUniqueId=Value" not in page

    chosen = admin_client.get(address, {"type": grade.resource_type_id, "namespace": "uri://tx.gov"}).content.decode()
    assert "1 descriptor\n" in chosen
    assert "Pre-K" in chosen


def test_the_admin_is_closed_without_a_login(client, db):
    response = client.get(LIST)

    assert response.status_code == 302
    assert response["Location"].startswith("/admin/login/")


def test_the_admin_redirects_to_its_trailing_slash(client, db):
    assert client.get("/admin")["Location"] == "/admin/"


def test_the_referrer_policy_of_the_admin_is_same_origin(client, db):
    """All other pages send no referrer."""
    assert client.get("/admin/login/")["Referrer-Policy"] == "same-origin"
    assert client.get("/")["Referrer-Policy"] == "no-referrer"

"""The pages of a student, of a staff member and of a contact in the admin."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test.utils import CaptureQueriesContext

from edfi_api.core.models import Document
from edfi_api.core.storage import resource_types
from edfi_api.site.person_pages import documents as documents_of_pages
from edfi_api.site.person_pages import panels
from edfi_api.site.person_pages.layout import BUNDLED
from tests.support.admin_users import client_of
from tests.support.databases import connection

EVENTS = "/studentSchoolAttendanceEvents"


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    """On a busy machine the statements of a page may take longer than the seconds that it has."""
    monkeypatch.setattr(panels, "MILLISECONDS", 60_000)


@pytest.fixture
def steward(db):
    return client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))


@pytest.fixture
def stored(db, documents, resource_named):
    """A student with a mark, a teacher and a contact; what they refer to is made up, and `Value` is its text."""
    for name in ("Grade", "StaffSectionAssociation", "StudentContactAssociation", "StudentSchoolAttendanceEvent"):
        documents.store(resource_named(name))


def row_of(resource: str) -> int:
    return Document.objects.get(resource_type__name=resource).pk


def page(client, resource: str) -> str:
    return client.get(f"/admin/edfi_api/document/{row_of(resource)}/change/").content.decode()


def block(text: str, name: str) -> str:
    """The words of a block."""
    html = text.partition(f'id="{name}">')[2].partition("</section>")[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def written(api, address: str, query: str, **changes: object) -> None:
    [body] = api.get(f"{address}?{query}").json()
    answer = api.put(f"{address}/{body['id']}", body | changes)
    assert answer.status_code == 204, answer.content


def add_event(api, day: str) -> None:
    """Another one like the first."""
    [first, *_] = api.get(EVENTS).json()
    body = {name: value for name, value in first.items() if name not in {"id", "_etag", "_lastModifiedDate"}}
    answer = api.post(EVENTS, body | {"eventDate": day})
    assert answer.status_code == 201, answer.content


def test_a_database_that_does_not_know_a_resource_of_the_model_yet_is_no_error(steward, stored, monkeypatch):
    known = resource_types.numbers("default")
    older = {name: number for name, number in known.items() if name.resource != "Grade"}
    monkeypatch.setattr(documents_of_pages.resource_types, "numbers", lambda using: older)

    text = page(steward, "Student")

    assert "Course Teacher" in block(text, "schedule")


def test_the_page_of_a_student_has_the_schedule_with_marks_and_teachers(steward, api, stored):
    written(api, "/grades", "limit=1", numericGradeEarned=87)

    text = page(steward, "Student")

    assert "Course Teacher Marks From Written Value Value Value Value 87 2025-08-20" in block(text, "schedule")
    assert "Name Relation" not in block(text, "contacts")
    assert block(text, "contacts").startswith("Contacts Name Written Value Value")
    assert "Value 1" in block(text, "attendance")
    assert block(text, "empty").startswith("Not stored Nothing is stored about: enrolments, programs,")


def test_who_changed_a_mark_is_behind_the_mark(steward, api, stored):
    written(api, "/grades", "limit=1", numericGradeEarned=87)
    written(api, "/grades", "limit=1", numericGradeEarned=91)

    [(versions, hint)] = re.findall(r'<a href="([^"]+)" title="([^"]+)">91</a>', page(steward, "Student"))
    text = steward.get(versions).content.decode()

    assert re.fullmatch(r"Written \d{4}-\d\d-\d\d \d\d:\d\d UTC by tests", hint)
    assert "<del>87</del>" in text and "<ins>91</ins>" in text and "by</span> tests" in text


def test_what_was_written_last_has_former_versions_and_deleted_documents(steward, api, stored):
    written(api, "/grades", "limit=1", numericGradeEarned=87)
    add_event(api, "2025-09-01")
    [event] = api.get(f"{EVENTS}?eventDate=2025-09-01").json()
    assert api.delete(f"{EVENTS}/{event['id']}").status_code == 204

    lines = re.findall(r"UTC</time> <strong>(.*?)</strong> <[^>]*>by (.*?)<", page(steward, "Student"))

    assert lines[:3] == [
        ("Attendance at school deleted", "tests"),
        ("Attendance at school added", "tests"),
        ("Grade changed", "tests"),
    ]
    assert ("Student added", "a command") in lines


def test_a_staff_member_has_classes_and_a_contact_has_students(steward, stored):
    assert "Course Section Session" in block(page(steward, "Staff"), "classes")
    assert block(page(steward, "Contact"), "children").startswith("Students Name Written Value Value")


def test_many_rows_are_a_calendar_and_the_rest_leads_to_the_list(steward, api, stored, tmp_path, settings):
    for day in range(1, 6):
        add_event(api, f"2025-09-{day:02}")

    text = page(steward, "Student")
    layout = tmp_path / "layout.toml"
    layout.write_text(BUNDLED.read_text().replace("most = 400", "most = 2"))
    settings.EDFI_API = {**settings.EDFI_API, "PERSON_PAGES": str(layout)}
    short = page(steward, "Student")
    [address] = re.findall(r'<a href="([^"]+)">4 more: list them all</a>', short)

    assert 'aria-label="From 2025-08-20 to 2025-09-05: Value 6."' in text
    assert text.partition('class="legend"')[0].count("<rect") == 12 * 5
    assert "<title>Tue 2025-09-02: Value</title>" in text
    assert "Value 2" in block(short, "attendance")
    assert "6 documents" in steward.get(unescape(address)).content.decode()


def test_the_number_of_statements_does_not_depend_on_the_number_of_rows(steward, api, stored):
    add_event(api, "2025-08-21")
    few = statements_of_the_blocks(steward)
    for day in range(1, 10):
        add_event(api, f"2025-09-{day:02}")

    assert statements_of_the_blocks(steward) == few
    kinds = ["wanted.type,", "wanted.alias,", "a.referential_id,", "a.referential_id,", "direct", "a.referential_id,"]
    assert [each.split()[1] for each in few] == kinds


def statements_of_the_blocks(client) -> list[str]:
    """The beginnings of the statements within the limit of time."""
    with CaptureQueriesContext(connection) as queries:
        page(client, "Student")
    found = [" ".join(each["sql"].split())[:30] for each in queries]
    first, last = [place for place, each in enumerate(queries) if "set_config(" in each["sql"]]
    return [each for each in found[first + 1 : last] if each.startswith(("SELECT wanted", "SELECT a.", "WITH direct"))]


def test_a_page_that_takes_too_long_says_so(steward, stored, monkeypatch):
    monkeypatch.setattr(documents_of_pages, "_ROWS", documents_of_pages._ROWS + "; SELECT pg_sleep(1)")
    monkeypatch.setattr(panels, "MILLISECONDS", 50)

    text = page(steward, "Student")

    assert "The database took too long to read what belongs to this person." in text
    assert "Keys, envelope and body" in text


def test_who_may_not_see_documents_sees_no_page_of_a_person(stored):
    nobody = client_of(User.objects.create(username="nobody", is_staff=True))

    assert nobody.get(f"/admin/edfi_api/document/{row_of('Student')}/change/").status_code == 403


def test_documents_of_another_standard_are_no_error(steward, stored):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE document SET body = body - 'sectionReference' WHERE body ? 'sectionReference'")
    assert block(page(steward, "Student"), "schedule").startswith("Schedule and marks From Written 2025-08-20")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE document SET body = '{}' WHERE is_person AND student IS NOT NULL")
    assert "Keys, envelope and body" in page(steward, "Student")

"""Titles of documents in the admin: names in place of ids, made from the model for any resource."""

import re

import pytest
from django.contrib.auth.models import User
from django.test.utils import CaptureQueriesContext

from edfi_api.core.models import Document
from edfi_api.core.served import current_surface
from edfi_api.model.surface.resource import ResourceName
from edfi_api.web.admin_kit.titles import DocumentKey, titles
from tests.support.admin_users import client_of
from tests.support.class_periods import PERIOD, store_school
from tests.support.databases import DOCUMENTS, connection
from tests.support.factories import STUDENT

LIST = "/admin/edfi_api/document/"


@pytest.fixture
def steward(db):
    return client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))


@pytest.fixture
def stored(api):
    store_school(api, 7)
    assert api.post("/students", STUDENT).status_code == 201
    assert api.post("/classPeriods", PERIOD).status_code == 201


def listed(client, query: str) -> list[tuple[str, str]]:
    """Titles of the rows, each with the key beneath."""
    page = client.get(f"{LIST}?{query}").content.decode()
    cells = re.findall(r'<th class="field-key">(.*?)</th>', page)
    return [tuple(re.findall(r">([^<>]+)</(?:span|small)>", cell)) for cell in cells]


def of(resource: str, key: str) -> DocumentKey:
    return DocumentKey(current_surface().by_name[ResourceName("Ed-Fi", resource)], f"NK#{key}")


def test_persons_and_organizations_are_shown_by_their_names(steward, stored):
    assert listed(steward, "q=604822") == [("Mae Ortiz · 604822", "studentUniqueId=604822")]
    assert listed(steward, "q=schoolId=7") == [
        ("School 7 · 7", "schoolId=7"),
        ("First · School 7", "classPeriodName=First, schoolId=7"),
    ]


def test_titles_of_associations_name_the_person_first_and_the_day_last(stored):
    shown = titles(
        [
            of(
                "StudentSchoolAssociation",
                "entryDate=2025-08-18#schoolReference.schoolId=7#studentReference.studentUniqueId=604822",
            ),
            of(
                "StudentEducationOrganizationAssociation",
                "educationOrganizationReference.educationOrganizationId=7#studentReference.studentUniqueId=604822",
            ),
            of(
                "FeederSchoolAssociation",
                "beginDate=2025-08-18#feederSchoolReference.schoolId=7#schoolReference.schoolId=8",
            ),
            of("Session", "schoolReference.schoolId=7#schoolYearTypeReference.schoolYear=2026#sessionName=Fall"),
        ],
        DOCUMENTS,
    )

    assert shown == [
        "Mae Ortiz · School 7 · 2025-08-18",
        "Mae Ortiz · School 7",
        "8 · School 7 · 2025-08-18",
        "Fall · School 7 · 2026",
    ]


@pytest.mark.parametrize(
    ("resource", "key", "title"),
    [
        ("Student", "studentUniqueId=0", "0"),
        ("Student", "studentUniqueId=?", ""),
        ("ClassPeriod", "classPeriodName=First#schoolReference.schoolId=?", "First"),
        ("SexDescriptor", "uri://ed-fi.org/SexDescriptor#Female", "Female"),
        ("Survey", "namespace=uri://ed-fi.org/Survey#surveyIdentifier=1", "1"),
        ("Student", "studentUniqueId=<b>", "<b>"),
    ],
)
def test_what_has_no_name_is_shown_by_its_values(db, resource, key, title):
    assert titles([of(resource, key)], DOCUMENTS) == [title]


def test_a_document_of_another_standard_is_shown_by_its_values(db):
    assert titles([DocumentKey(None, "NK#pupilId=5#schoolReference.schoolId=9")], DOCUMENTS) == ["5 · 9"]


def test_a_deleted_student_keeps_the_name(steward, stored):
    student = Document.objects.get(resource_type__name="Student")
    steward.post(f"{LIST}{student.pk}/delete/", {"post": "yes"})

    page = steward.get("/admin/change_queries/deleteddocument/").content.decode()

    assert "Mae Ortiz · 604822" in page


def test_titles_of_a_page_take_one_query(stored):
    key = "entryDate=2025-08-18#schoolReference.schoolId={}#studentReference.studentUniqueId={}"
    keys = [of("StudentSchoolAssociation", key.format(number, number)) for number in range(100)]

    with CaptureQueriesContext(connection) as queries:
        titles(keys, DOCUMENTS)

    assert len(queries) == 1


def test_no_page_shows_the_prefix_of_natural_keys(steward, stored):
    student = Document.objects.get(resource_type__name="Student")
    for page in ("/admin/", LIST, f"{LIST}{student.pk}/change/", f"{LIST}{student.pk}/delete/"):
        assert "NK#" not in steward.get(page).content.decode()


def test_names_from_right_to_left_leave_the_numbers_beside_them_in_place(steward, api):
    assert api.post("/students", STUDENT | {"firstName": "\u05de\u05d0\u05d4"}).status_code == 201
    row = Document.objects.get(resource_type__name="Student").pk

    for path in (LIST, f"{LIST}{row}/change/", f"{LIST}by-kind/"):
        page = steward.get(path).content.decode()
        assert "<bdi>\u05de\u05d0\u05d4 Ortiz</bdi> · 604822" in page, path
    head = steward.get(f"{LIST}{row}/change/").content.decode().partition("</title>")[0]
    assert "\u05de\u05d0\u05d4 Ortiz · 604822" in head and "bdi" not in head

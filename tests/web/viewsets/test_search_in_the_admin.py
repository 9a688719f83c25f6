"""The search for documents in the admin: by names and organizations, what is identified by fewest values first."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from edfi_api.core.models import Document, ResourceType
from edfi_api.core.queries.name_index import name_members
from edfi_api.web.admin_kit.list_filters import first_version_since
from tests.features.refusals.conftest import client_id
from tests.support.admin_users import client_of
from tests.support.class_periods import PERIOD, store_school
from tests.support.databases import DOCUMENTS, connection
from tests.support.factories import STUDENT


@pytest.fixture
def steward(db):
    return client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))


@pytest.fixture
def stored(api):
    store_school(api, 7)
    api.post("/students", STUDENT)
    api.post("/classPeriods", PERIOD)


def keys(client, query: str) -> list[str]:
    response = client.get(f"/admin/edfi_api/document/?{query}")
    assert response.status_code == 200
    cells = re.findall(r'<th class="field-key">(.*?)</th>', response.content.decode())
    return [re.findall(r">([^<>]+)<", cell)[-1] for cell in cells]


def number_of(name: str) -> int:
    return ResourceType.objects.get(name=name).pk


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ortiz", ["studentUniqueId=604822"]),
        ("ortiz", ["studentUniqueId=604822"]),
        ("Mae+Ortiz", ["studentUniqueId=604822"]),
        ("Ortiz+Mae", ["studentUniqueId=604822"]),
        ("Mae+Nobody", []),
        ("School+7", ["schoolId=7"]),
    ],
)
def test_documents_are_found_by_names(steward, stored, text, found):
    assert keys(steward, f"q={text}") == found


def test_an_item_comes_before_those_that_refer_to_it(steward, stored):
    assert keys(steward, "q=schoolId=7") == ["schoolId=7", "classPeriodName=First, schoolId=7"]


def test_documents_are_found_by_organization(steward, stored):
    assert sorted(keys(steward, "q=organization=7")) == ["classPeriodName=First, schoolId=7", "schoolId=7"]
    assert keys(steward, "q=organization=8") == []


def test_documents_are_filtered_by_the_client_that_created_them(steward, stored):
    assert "studentUniqueId=604822" in keys(steward, f"created_by={client_id()}")
    assert keys(steward, "created_by=0") == []


def test_documents_are_filtered_by_time_within_a_resource(steward, stored):
    chosen = f"resource_type__id__exact={number_of('Student')}"
    assert keys(steward, f"{chosen}&changed=1") == ["studentUniqueId=604822"]
    Document.objects.filter(resource_type__name="Student").update(last_modified_at=timezone.now() - timedelta(days=3))

    assert keys(steward, f"{chosen}&changed=1") == []
    assert keys(steward, f"{chosen}&changed=7") == ["studentUniqueId=604822"]


def test_the_first_version_since_a_time_is_found_by_halving(api):
    for number in range(5):
        api.post("/students", STUDENT | {"studentUniqueId": str(number)})
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE document SET last_modified_at = '2026-01-01'::timestamptz + change_version * interval '1 s'"
        )
    versions = list(Document.objects.order_by("change_version").values_list("change_version", "last_modified_at"))
    student = number_of("Student")

    found = [first_version_since(student, moment, DOCUMENTS) for _, moment in versions[-5:]]

    own = [version for version, _ in versions[-5:]]
    assert all(low < at_most for low, at_most in zip([-1, *own], found, strict=False))
    assert all(at_most <= version for at_most, version in zip(found, own, strict=True))


@pytest.mark.parametrize(
    ("resource", "members"),
    [
        ("School", {"nameOfInstitution"}),
        ("Student", {"firstName", "lastSurname", "middleName"}),
        ("Course", {"courseTitle"}),
    ],
)
def test_members_that_are_names_are_known_by_their_names(resource_named, resource, members):
    assert members <= set(name_members(resource_named(resource)))

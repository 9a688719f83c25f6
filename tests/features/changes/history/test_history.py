"""`/history/v1`: versions of a document, for clients that may read each of them."""

import orjson
import pytest
from openapi_schema_validator import OAS30ReadValidator

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import assign_profiles, read_definitions, store_profiles
from tests.conftest import ApiTestClient, http, item_path, new_token
from tests.core.security.profiles.definitions import profile_xml
from tests.features.changes.history.versions import history, update
from tests.support.class_periods import PERIOD, store_school
from tests.support.databases import connection
from tests.support.factories import STUDENT

ABSENT_ID = "0193a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b"


@pytest.fixture
def student(api):
    """A student with three versions, the last two by the same client."""
    path = item_path(api.post("/students", STUDENT))
    update(api, path, STUDENT | {"lastSurname": "Oritz"})
    update(api, path, STUDENT | {"middleName": "Ann"})
    return path


def test_versions_come_newest_first_with_what_they_changed(api, student):
    newest, middle, first = history(api, student)

    assert [each["operation"] for each in (newest, middle, first)] == ["update", "update", "insert"]
    assert newest["changeVersion"] > middle["changeVersion"] > first["changeVersion"]
    assert (first["client"], first["naturalKey"], first["body"]) == ("tests", "NK#studentUniqueId=604822", STUDENT)
    assert "changes" not in first
    assert middle["changes"] == [{"path": "$.lastSurname", "from": "Ortiz", "to": "Oritz"}]
    assert newest["changes"] == [
        {"path": "$.lastSurname", "from": "Oritz", "to": "Ortiz"},
        {"path": "$.middleName", "to": "Ann"},
    ]


def test_answers_fit_their_openapi_document(api, student):
    api.delete(student)
    document = http().get("/metadata/specifications/history-spec.json").json()
    [content] = document["paths"]["/{project}/{endpoint}/{id}"]["get"]["responses"]["200"]["content"].values()
    validator = OAS30ReadValidator(content["schema"] | {"components": document["components"]})

    assert [error.message for error in validator.iter_errors(history(api, student))] == []
    assert list(validator.iter_errors([{"changeVersion": 1}])) != []


def test_pages_follow_each_other(api, student):
    response = api.get(student.replace("/data/", "/history/v1/") + "?limit=1")
    [newest] = response.json()
    rest = history(api, student, f"?beforeChangeVersion={response['Next-Change-Version']}&limit=2")

    assert len(newest["changes"]) == 2
    assert [each["operation"] for each in rest] == ["update", "insert"]


def test_a_deleted_document_and_its_delete_have_a_history(api, student):
    assert api.delete(student).status_code == 204

    found = history(api, student)

    assert [each["operation"] for each in found] == ["delete", "update", "update", "insert"]
    assert (found[0]["client"], "body" in found[0]) == ("tests", False)
    assert "changes" in found[1]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/history/v1/ed-fi/students/{ABSENT_ID}", 404),
        ("/history/v1/ed-fi/students/nonsense", 400),
        (f"/history/v1/ed-fi/nonsense/{ABSENT_ID}", 404),
        ("/history/v1/nonsense", 404),
    ],
)
def test_what_does_not_exist_is_not_found(api, path, status):
    assert api.get(path).status_code == status


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=0", "Limit must be omitted or set to a numeric value between 1 and 100."),
        ("limit=101", "Limit must be omitted or set to a numeric value between 1 and 100."),
        ("beforeChangeVersion=-1", "BeforeChangeVersion must be a change version."),
        ("nonsense=1", "The query field 'nonsense' is not valid for this resource."),
    ],
)
def test_unusable_parameters_are_named(api, student, query, message):
    response = api.get(student.replace("/data/", "/history/v1/") + f"?{query}")

    assert (response.status_code, response.json()["errors"]) == (400, [message])


def test_the_id_of_another_resource_has_no_history_here(api, student):
    path = student.replace("/data/", "/history/v1/").replace("students", "staffs")

    assert api.get(path).status_code == 404


@pytest.fixture
def reader():
    """Makes a client that may read class periods and their changes by its organizations."""

    def client(*schools, actions=("Read", "ReadChanges")):
        grant = {
            "claims": ["ed-fi/classPeriod"],
            "actions": list(actions),
            "strategies": ["RelationshipsWithEdOrgsOnly"],
        }
        load(read_claims(orjson.dumps({"claimSets": [{"name": "Periods", "grants": [grant]}]})), by="tests")
        return ApiTestClient(new_token(f"reader {schools} {actions}", "Periods", education_organization_ids=schools))

    return client


@pytest.fixture
def moved(api):
    """A class period that was moved from school 7 to school 8, and changed there."""
    store_school(api, 7)
    store_school(api, 8)
    path = item_path(api.post("/classPeriods", PERIOD | {"officialAttendancePeriod": True}))
    update(api, path, PERIOD | {"schoolReference": {"schoolId": 8}})
    update(api, path, PERIOD | {"schoolReference": {"schoolId": 8}, "officialAttendancePeriod": False})
    return path


def test_versions_of_another_organization_do_not_leak(api, reader, moved):
    assert [each["operation"] for each in history(api, moved)] == ["update", "key_change", "insert"]

    response = reader(8).get(moved.replace("/data/", "/history/v1/"))

    assert [each["operation"] for each in response.json()] == ["update", "key_change"]
    assert b"7" not in orjson.dumps(
        [(each["naturalKey"], each["body"], each.get("changes")) for each in response.json()]
    )
    assert "changes" not in response.json()[1]


def test_whoever_may_not_read_the_document_reads_no_version(reader, moved):
    response = reader(7).get(moved.replace("/data/", "/history/v1/"))

    assert response.status_code == 403


def test_a_deleted_document_of_another_organization_does_not_exist(api, reader, moved):
    path = moved.replace("/data/", "/history/v1/")
    api.delete(moved)

    assert [each["operation"] for each in reader(8).get(path).json()] == ["delete", "update", "key_change"]
    assert [each["operation"] for each in reader(7).get(path).json()] == ["insert"]
    assert reader(9).get(path).status_code == 404


@pytest.mark.parametrize("actions", [("Read",), ("ReadChanges",)])
def test_both_permissions_are_needed(reader, moved, actions):
    assert reader(8, actions=actions).get(moved.replace("/data/", "/history/v1/")).status_code == 403


def test_names_of_clients_of_other_vendors_are_left_out(student):
    other = ApiTestClient(new_token("another"))

    assert ["client" in each for each in history(other, student)] == [False, False, False]


@pytest.fixture
def bound(api):
    """A client that is bound by profiles of students, each with the members that it hides."""

    def client(*hidden: str):
        token = new_token("bound")
        for name in hidden:
            definition = profile_xml("Student", f'ExcludeOnly: <Property name="{name}"/>', name=f"Hides-{name}")
            store_profiles(read_definitions(definition), by="tests")
        assign_profiles(Application.objects.get(name="bound"), [f"Hides-{name}" for name in hidden], by="tests")
        return ApiTestClient(token)

    return client


def test_a_profile_hides_the_same_members_in_every_version(api, bound, student):
    api.delete(student)

    found = history(bound("middleName"), student)

    assert [each["operation"] for each in found] == ["delete", "update", "update", "insert"]
    assert found[1]["changes"] == [{"path": "$.lastSurname", "from": "Oritz", "to": "Ortiz"}]
    assert "middleName" not in found[1]["body"]
    assert found[3]["body"] == STUDENT
    assert b"Ann" not in orjson.dumps(found)


def test_several_profiles_leave_no_bodies(bound, student):
    found = history(bound("middleName", "lastSurname"), student)

    assert [("body" in each, "changes" in each) for each in found] == [(False, False)] * 3
    assert not {b"Ann", b"Ortiz", b"Oritz"} & set(orjson.dumps(found).split(b'"'))


def test_a_page_costs_a_bounded_number_of_queries(api, student, django_assert_max_num_queries):
    history(api, student)
    with django_assert_max_num_queries(5, connection=connection):
        history(api, student)

"""Pushing what a client of some organizations may read: what enters it is sent, what leaves it is deleted."""

import pytest
from django.core.management import CommandError, call_command

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.push.models import SentDocument
from edfi_api.features.exchange.push.readable import NothingToPush
from tests.features.exchange.random_changes import enrollment, local_education_agency, path_of, school, student
from tests.features.exchange.reference_target import Answer


@pytest.fixture
def connection(connection) -> Connection:
    """Return the connection of the school 7, with the claim set of a student information system."""
    create_client("sis", "SISVendor", education_organization_ids=[8])
    connection.api_client = ApiClient.objects.get(name="sis")
    connection.education_organization_ids = [7]
    connection.save()
    return connection


@pytest.fixture
def schools(api, descriptors) -> None:
    """Two, with a student each."""
    for id_ in (7, 8):
        path_of(api.post("/schools", school(id_)))
        path_of(api.post("/students", student(str(id_))))
        path_of(api.post("/studentSchoolAssociations", enrollment(str(id_), id_)))


def students(target) -> list[str]:
    return [each["studentUniqueId"] for each in target.bodies("/ed-fi/students")]


def test_only_what_the_organizations_reach_is_sent(api, schools, target, pushed):
    assert pushed().refused == 0
    assert students(target) == ["7"]
    assert [each["schoolReference"] for each in target.bodies("/ed-fi/studentSchoolAssociations")] == [{"schoolId": 7}]


def test_a_student_who_enters_arrives_with_all_documents(api, schools, target, pushed):
    path_of(api.post("/studentSchoolAssociations", enrollment("8", 7)))

    pushed()
    assert students(target) == ["7", "8"]


def test_a_student_who_enters_later_arrives(api, schools, target, pushed):
    pushed()
    path_of(api.post("/studentSchoolAssociations", enrollment("8", 7)))

    assert pushed().refused == 0
    assert students(target) == ["7", "8"]


def test_a_student_who_leaves_is_deleted_there(api, schools, target, pushed):
    path = path_of(api.post("/studentSchoolAssociations", enrollment("8", 7)))
    pushed()
    assert api.delete(path).status_code == 204

    figures = pushed()

    assert (figures.deleted, figures.refused) == (2, 0)
    assert students(target) == ["7"]
    assert api.get("/students?studentUniqueId=8").json() != []


def test_what_was_never_accepted_is_not_deleted_there(api, schools, target, pushed):
    """The document that is there may be another district's."""
    target.refuses = lambda _, method, endpoint, body: (
        Answer(403, {"title": "Access Denied"}) if endpoint in ("students", "studentSchoolAssociations") else None
    )
    pushed()
    target.refuses = lambda *_: None
    path = path_of(api.post("/studentSchoolAssociations", enrollment("7", 7)))
    assert api.delete(path).status_code == 204
    assert api.delete(path_of(api.post("/students", student("7")))).status_code == 204
    before = len(target.requests)

    pushed()

    assert not [method for method, _ in target.requests[before:] if method in ("GET", "DELETE")]
    assert set(SentDocument.objects.values_list("refused_at", flat=True)) == {None}


def test_a_school_that_moves_below_another_agency_takes_its_documents_along(api, schools, target, pushed, connection):
    kind = {
        "namespace": "uri://ed-fi.org/LocalEducationAgencyCategoryDescriptor",
        "codeValue": "Regular public school district",
    }
    path_of(api.post("/localEducationAgencyCategoryDescriptors", kind | {"shortDescription": "Other"}))
    for id_ in (70, 80):
        path_of(api.post("/localEducationAgencies", local_education_agency(id_)))
    path_of(api.post("/schools", school(8, 80)))
    Connection.objects.update(education_organization_ids=[70])
    pushed()
    assert students(target) == []

    path_of(api.post("/schools", school(8, 70)))
    pushed()
    assert students(target) == ["8"]

    path_of(api.post("/schools", school(8, 80)))
    pushed()
    assert students(target) == []


def test_organizations_need_a_claim_set_that_asks_for_them(connection, pushed):
    connection.api_client = ApiClient.objects.get(name="tests")
    connection.save()

    with pytest.raises(NothingToPush):
        pushed()
    with pytest.raises(CommandError, match="whatever its organizations are"):
        call_command("push_changes", "state")


def test_a_client_that_may_read_nothing_pushes_nothing(connection, pushed, target):
    ApiClient.objects.filter(name="sis").update(is_active=False)

    with pytest.raises(CommandError, match="inactive"):
        call_command("push_changes", "state")
    assert not target.stored

"""Two data stores with the same natural keys never mix: documents, ids, caches, versions, organizations."""

import pytest
from django.db import connections

from edfi_api.core.storage import resource_types
from edfi_api.model.surface.resource import ResourceName
from tests.core.data_stores.conftest import renumber

STUDENTS = "/students"
ASSOCIATIONS = "/studentSchoolAssociations"
VERSIONS = "/changeQueries/v1/availableChangeVersions"


# Tables of documents and all that is kept about them.
_OF_DOCUMENTS = ("document", "alias", "reference", "resource_type", "deleted_document", "key_change", "key_field")


@pytest.fixture(autouse=True)
def _admin_database_without_documents(db):
    """Whatever would read them there by mistake fails."""
    with connections["default"].cursor() as cursor:
        for table in _OF_DOCUMENTS:
            cursor.execute(f"ALTER TABLE {table} RENAME TO hidden_{table}")


@pytest.fixture
def years(stores, client_of):
    """Clients of the two years, whose databases have been used."""
    client = client_of(*stores)
    years = client.at("/2026"), client.at("/2027")
    for each in years:
        assert each.get(STUDENTS).json() == []
    return years


@pytest.fixture
def aliases(stores):
    return [f"store_{store.pk}_1" for store in stores]


@pytest.fixture
def student(documents, resource_named):
    return documents.minimal_body(resource_named("Student"))


@pytest.fixture
def association(aliases, documents_of, resource_named):
    """The body of an association, whose targets are in both stores."""
    resource = resource_named("StudentSchoolAssociation")
    for alias in aliases:
        factory = documents_of(alias)
        body = factory.minimal_body(resource)
        factory.store_targets(resource, body)
    return body


def _id(response):
    return response["Location"].rpartition("/")[2]


def test_the_same_natural_key_is_two_documents(years, student):
    one, other = years

    ids = [
        _id(client.post(STUDENTS, student | {"lastSurname": name}))
        for client, name in ((one, "Abel"), (other, "Brown"))
    ]

    assert ids[0] != ids[1]
    assert [each["lastSurname"] for each in one.get(STUDENTS).json()] == ["Abel"]
    assert [each["lastSurname"] for each in other.get(STUDENTS).json()] == ["Brown"]
    assert one.get(f"{STUDENTS}/{ids[1]}").status_code == 404
    assert other.delete(f"{STUDENTS}/{ids[0]}").status_code == 404


def test_writes_go_to_their_own_store(years, student):
    one, other = years
    ids = [_id(client.post(STUDENTS, student)) for client in years]

    changed = one.put(f"{STUDENTS}/{ids[0]}", student | {"id": ids[0], "lastSurname": "Changed"})
    again = other.post(STUDENTS, student)
    deleted = one.delete(f"{STUDENTS}/{ids[0]}")

    assert (changed.status_code, again.status_code, deleted.status_code) == (204, 200, 204)
    assert _id(again) == ids[1]
    assert (len(one.get(STUDENTS).json()), len(other.get(STUDENTS).json())) == (0, 1)


def test_every_operation_is_served_from_the_store(years, student):
    one, _ = years
    id_ = _id(one.post(STUDENTS, student))

    assert one.get(f"{STUDENTS}?studentUniqueId={student['studentUniqueId']}&totalCount=true")["Total-Count"] == "1"
    assert len(one.get(f"{STUDENTS}/partitions?number=2").json()["pageTokens"]) == 1
    assert one.get(f"{STUDENTS}/keyChanges").status_code == 200
    assert one.get(f"{STUDENTS}?minChangeVersion=1").status_code == 200
    assert one.delete(f"{STUDENTS}/{id_}").status_code == 204


def test_change_versions_are_counted_in_each(years, student):
    one, other = years
    before = other.request("get", VERSIONS).json()

    id_ = _id(one.post(STUDENTS, student))
    one.delete(f"{STUDENTS}/{id_}")

    assert other.request("get", VERSIONS).json() == before
    assert [each["id"] for each in one.get(f"{STUDENTS}/deletes").json()] == [id_]
    assert other.get(f"{STUDENTS}/deletes").json() == []


def test_a_reference_resolves_in_its_own_store_only(years, aliases, documents_of, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    of_one = documents_of(aliases[0])
    body = of_one.minimal_body(resource)
    of_one.store_targets(resource, body)
    one, other = years

    assert one.post(ASSOCIATIONS, body).status_code == 201
    assert not other.post(ASSOCIATIONS, body).has_header("Location")
    assert other.get(ASSOCIATIONS).json() == []


def test_related_documents_lie_in_the_same_store(years, association):
    one, other = years
    made = _id(one.post(ASSOCIATIONS, association))
    [student_of_one], [student_of_other] = (client.get(STUDENTS).json() for client in years)

    found = one.request("get", f"/relations/v1/ed-fi/students/{student_of_one['id']}")

    assert made in [each["id"] for each in found.json()]
    assert other.request("get", f"/relations/v1/ed-fi/students/{student_of_other['id']}").json() == []
    assert other.request("get", f"/relations/v1/ed-fi/students/{student_of_one['id']}").status_code == 404


def test_resources_have_numbers_of_their_own_in_each(surface, years, aliases, request):
    renumber(aliases[1], surface)
    association = request.getfixturevalue("association")
    name = ResourceName("Ed-Fi", "StudentSchoolAssociation")

    ids = [[_id(client.post(ASSOCIATIONS, association)) for _ in range(2)] for client in years]

    assert [len(set(each)) for each in ids] == [1, 1]
    assert resource_types.numbers(aliases[0])[name] != resource_types.numbers(aliases[1])[name]
    for client, (id_, _) in zip(years, ids, strict=True):
        [student] = client.get(STUDENTS).json()
        link = client.get(f"{ASSOCIATIONS}/{id_}").json()["studentReference"]["link"]
        assert link == {"rel": "Student", "href": f"/ed-fi/students/{student['id']}"}


def test_databases_with_the_same_numbers_share_their_memory(years, aliases):
    assert resource_types.numbers(aliases[0]) is resource_types.numbers(aliases[1])


def test_descriptors_are_spelt_as_in_their_own_store(years, association):
    values = {}
    for client in years:
        [stored] = client.get("/gradeLevelDescriptors").json()
        client.delete(f"/gradeLevelDescriptors/{stored['id']}")
    one, other = years
    for client, code in ((one, "Tenth Grade"), (other, "TENTH grade")):
        descriptor = {
            "namespace": "uri://ed-fi.org/GradeLevelDescriptor",
            "codeValue": code,
            "shortDescription": "Tenth grade",
        }
        assert client.post("/gradeLevelDescriptors", descriptor).status_code == 201
    body = association | {"entryGradeLevelDescriptor": "uri://ed-fi.org/gradeleveldescriptor#tenth grade"}

    for client in (one, other, one, other):
        made = client.post(ASSOCIATIONS, body)
        values[client] = client.get(f"{ASSOCIATIONS}/{_id(made)}").json()["entryGradeLevelDescriptor"]

    assert values[one] == "uri://ed-fi.org/GradeLevelDescriptor#Tenth Grade"
    assert values[other] == "uri://ed-fi.org/GradeLevelDescriptor#TENTH grade"


def test_token_info_describes_the_organizations_of_the_store(stores, client_of, resource_named, documents_of):
    agency = resource_named("LocalEducationAgency")
    client = client_of(*stores, education_organization_ids=[255901])
    for store, name in zip(stores, ("Grand Bend", "Lakeside"), strict=True):
        year = client.at(f"/{store.name}")
        year.get(STUDENTS)
        factory = documents_of(f"store_{store.pk}_1")
        body = factory.minimal_body(agency, localEducationAgencyId=255901, nameOfInstitution=name)
        factory.store_targets(agency, body)
        unlimited = client_of(store, name=f"writes {store.name}").at(f"/{store.name}")
        assert unlimited.post("/localEducationAgencies", body).status_code == 201

    def organizations(context):
        answer = client.at(context).request("post", "/oauth/token_info", {"token": client.token})
        return answer.json()["education_organizations"]

    assert [each["name_of_institution"] for each in organizations("/2026")] == ["Grand Bend"]
    assert [each["name_of_institution"] for each in organizations("/2027")] == ["Lakeside"]
    assert organizations("") == [{"education_organization_id": 255901}]

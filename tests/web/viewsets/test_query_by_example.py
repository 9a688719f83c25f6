"""Query by example: equality on queryable fields, typed, combined with AND."""

from urllib.parse import urlencode

import pytest

from tests.support.factories import STUDENT
from tests.web.viewsets.students import unique_ids


@pytest.fixture
def students(api):
    for number, first_name, born in (
        ("1", "Mae", "2010-02-03"),
        ("2", "Noa", "2010-02-03"),
        ("3", "Noa", "2011-01-01"),
    ):
        body = STUDENT | {"studentUniqueId": number, "firstName": first_name, "birthDate": born}
        assert api.post("/students", body).status_code == 201


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("firstName=Noa", ["2", "3"]),
        ("FIRSTNAME=Noa", ["2", "3"]),
        ("firstName=noa", []),
        ("birthDate=2010-02-03", ["1", "2"]),
        ("birthDate=2010-02-03T08:00:00Z", ["1", "2"]),
        ("firstName=Noa&birthDate=2/3/2010", ["2"]),
        ("studentUniqueId=1", ["1"]),
        ("firstName=", []),
        ("id=not-a-uuid", []),
    ],
)
def test_documents_are_found_by_their_values(api, students, query, found):
    assert unique_ids(api.get(f"/students?{query}")) == found


def test_a_document_is_found_by_its_id(api, students):
    expected = api.get("/students?studentUniqueId=2").json()[0]

    assert api.get(f"/students?id={expected['id']}").json() == [expected]


def test_the_total_counts_filtered_documents(api, students):
    assert api.get("/students?firstName=Noa&limit=1&totalCount=true")["Total-Count"] == "2"


def test_a_key_inside_a_reference_is_a_query_field(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    documents.store(resource)
    body = documents.minimal_body(resource)

    assert len(api.get(f"/studentSchoolAssociations?schoolId={body['schoolReference']['schoolId']}").json()) == 1
    assert len(api.get(f"/studentSchoolAssociations?schoolId={body['schoolReference']['schoolId']}.0").json()) == 1
    assert api.get("/studentSchoolAssociations?schoolId=5").json() == []
    assert len(api.get("/studentSchoolAssociations?studentUniqueId=Value").json()) == 1
    assert api.get("/studentSchoolAssociations?studentUniqueId=value").json() == []


@pytest.mark.parametrize("number", ["-1", "9223372036854775807"])
def test_ids_that_no_organization_can_have_match_nothing(api, documents, resource_named, number):
    documents.store(resource_named("StudentSchoolAssociation"))

    assert api.get(f"/studentSchoolAssociations?schoolId={number}&totalCount=true")["Total-Count"] == "0"


@pytest.mark.parametrize("name", ["schoolId", "schoolId[gte]", "schoolId[in]"])
@pytest.mark.parametrize("number", ["1.5", "255901001.5", "9223372036854775808", "99999999999999999999"])
def test_a_filter_by_what_is_no_id_is_refused_as_in_bodies(api, name, number):
    response = api.get("/studentSchoolAssociations", QUERY_STRING=urlencode({name: number}))

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {
        "$.schoolReference.schoolId": [f"The value '{number}' is not valid for {name}."]
    }


def test_an_unknown_field_is_reported_first_with_its_name_as_sent(api):
    response = api.get("/students?Colour=red&birthDate=soon")

    assert response.status_code == 400
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:bad-request"
    assert problem["errors"] == ["The query field 'Colour' is not valid for this resource."]


def test_all_invalid_values_are_reported_with_their_paths(api):
    response = api.get("/studentSchoolAssociations?schoolID=abc&entryDate=soon&primarySchool=perhaps")

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {
        "$.schoolReference.schoolId": ["The value 'abc' is not valid for schoolID."],
        "$.entryDate": ["The value 'soon' is not valid for entryDate."],
        "$.primarySchool": ["The value 'perhaps' is not valid for primarySchool."],
    }


def test_a_number_is_compared_with_all_of_its_digits(api, documents, resource_named):
    resource = resource_named("DisciplineIncident")
    body = documents.minimal_body(resource, incidentCost="123456789012345.6789")
    documents.store_targets(resource, body)
    assert api.post("/disciplineIncidents", body).status_code == 201

    assert len(api.get("/disciplineIncidents?incidentCost=123456789012345.67890").json()) == 1
    assert api.get("/disciplineIncidents?incidentCost=123456789012345.6788").json() == []


def test_a_nul_character_is_an_invalid_value(api):
    assert api.get("/students?firstName=a%00b").status_code == 400

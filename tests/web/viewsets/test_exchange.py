"""A first exchange: create a school and its course, read and delete them."""

import re

import pytest

from tests.conftest import item_path

CATEGORY = "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"
GRADE_LEVEL = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"

SCHOOL = {
    "schoolId": 122,
    "nameOfInstitution": "Lakeside High",
    "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": CATEGORY}],
    "schoolCategories": [],
    "gradeLevels": [{"gradeLevelDescriptor": GRADE_LEVEL}],
}
COURSE = {
    "courseCode": "1234",
    "educationOrganizationReference": {"educationOrganizationId": 122},
    "courseTitle": "Algebra",
    "numberOfParts": 1,
    "identificationCodes": [],
}


@pytest.fixture
def descriptors(api):
    for uri, endpoint in (
        (CATEGORY, "educationOrganizationCategoryDescriptors"),
        (GRADE_LEVEL, "gradeLevelDescriptors"),
    ):
        namespace, code = uri.split("#")
        body = {"namespace": namespace, "codeValue": code, "shortDescription": code}
        assert api.post(f"/{endpoint}", body).status_code == 201


@pytest.fixture
def school(api, descriptors):
    response = api.post("/schools", SCHOOL)
    assert response.status_code == 201, response.content
    return item_path(response)


def course_body(api, **changes):
    body = COURSE | changes
    code = "uri://ed-fi.org/CourseIdentificationSystemDescriptor#LEA course code"
    namespace, value = code.split("#")
    api.post(
        "/courseIdentificationSystemDescriptors",
        {"namespace": namespace, "codeValue": value, "shortDescription": value},
    )
    body["identificationCodes"] = [{"courseIdentificationSystemDescriptor": code, "identificationCode": "1234"}]
    return body


def test_a_new_school_is_created_with_location_and_etag(api, descriptors):
    response = api.post("/schools", SCHOOL)

    assert response.status_code == 201
    assert response["Location"].startswith("http://testserver/data/ed-fi/schools/")
    assert re.fullmatch(r'"\d+-l"', response["ETag"])
    assert response.content == b""


def test_a_repeated_post_is_200_and_changes_nothing(api, school):
    before = api.get(school).json()

    response = api.post("/schools", SCHOOL)

    assert response.status_code == 200
    assert item_path(response) == school
    assert api.get(school).json() == before


def test_a_school_is_read_back_with_its_server_members(api, school):
    response = api.get(school)

    body = response.json()
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json; charset=utf-8"
    assert next(iter(body)) == "id"
    assert body["id"] == school.rsplit("/", 1)[1]
    assert response["ETag"] == f'"{body["_etag"]}"'
    assert body["nameOfInstitution"] == "Lakeside High"
    assert "schoolCategories" not in body
    assert body["_lastModifiedDate"].endswith("Z")
    assert len(body["_lastModifiedDate"]) == len("2026-01-05T08:00:00Z")


def test_a_course_may_refer_to_the_school_as_its_education_organization(api, school):
    assert api.post("/courses", course_body(api)).status_code == 201


def test_a_course_of_an_unknown_organization_is_an_unresolved_reference(api, school):
    response = api.post("/courses", course_body(api, educationOrganizationReference={"educationOrganizationId": 999}))

    assert response.status_code == 409
    assert response["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:data-conflict:unresolved-reference"
    assert problem["title"] == "Unresolved Reference"
    assert problem["validationErrors"] == {
        "$.educationOrganizationReference": ["The referenced EducationOrganization item does not exist."]
    }


def test_an_unknown_descriptor_value_is_reported(api, descriptors):
    unknown = "uri://ed-fi.org/GradeLevelDescriptor#Fifteenth grade"

    response = api.post("/schools", SCHOOL | {"gradeLevels": [{"gradeLevelDescriptor": unknown}]})

    assert response.status_code == 400
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:bad-request"
    assert problem["detail"] == "Data validation failed. See 'validationErrors' for details."
    assert problem["validationErrors"] == {
        "$.gradeLevels[0].gradeLevelDescriptor": [
            "GradeLevelDescriptor value 'uri://ed-fi.org/gradeleveldescriptor#fifteenth grade' does not exist."
        ]
    }


def test_a_school_without_grade_levels_is_refused_with_the_standard_message(api, descriptors):
    response = api.post("/schools", SCHOOL | {"gradeLevels": []})

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {"$.gradeLevels": ["gradeLevels is required."]}


def test_a_school_with_a_course_cannot_be_deleted_and_a_link_names_the_course(api, school):
    course = item_path(api.post("/courses", course_body(api)))

    response = api.delete(school)

    assert response.status_code == 409
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:data-conflict:dependent-item-exists"
    assert problem["detail"] == (
        "The requested action cannot be performed because this item is referenced by existing Course item(s)."
    )
    assert (problem["validationErrors"], problem["errors"]) == ({}, [])
    related = school.replace("/data/", "/relations/v1/")
    assert response["Link"] == f'<http://testserver{related}>; rel="related"'
    assert [each["id"] for each in api.get(related).json()] == [course.rsplit("/", 1)[1]]
    assert api.get(school).status_code == 200


def test_course_and_school_can_be_deleted_in_order(api, school):
    course = item_path(api.post("/courses", course_body(api)))

    assert api.delete(course).status_code == 204
    assert api.delete(school).status_code == 204
    for path in (school, course):
        for response in (api.get(path), api.delete(path)):
            assert response.status_code == 404
            assert response.json()["detail"] == "The specified data could not be found."

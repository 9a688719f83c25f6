"""References and descriptors that look like stored ones: hints name what is stored, as far as the client may read."""

import pytest

from tests.conftest import ApiTestClient, item_path, new_token

ED_FI = "uri://ed-fi.org"
CATEGORY = f"{ED_FI}/EducationOrganizationCategoryDescriptor#School"
GRADE = f"{ED_FI}/GradeLevelDescriptor#Ninth grade"
PERIOD = "Caf\u00e9 Period"


def descriptor(api, type_, code):
    body = {"namespace": f"{ED_FI}/{type_}", "codeValue": code, "shortDescription": "Any"}
    return item_path(api.post(f"/{type_[0].lower()}{type_[1:]}s", body))


@pytest.fixture
def period(api):
    """A class period of a school."""
    descriptor(api, "EducationOrganizationCategoryDescriptor", "School")
    descriptor(api, "GradeLevelDescriptor", "Ninth grade")
    school = {
        "schoolId": 1,
        "nameOfInstitution": "Lakeside",
        "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": CATEGORY}],
        "gradeLevels": [{"gradeLevelDescriptor": GRADE}],
    }
    assert api.post("/schools", school).status_code == 201
    assert api.post("/classPeriods", {"classPeriodName": PERIOD, "schoolReference": {"schoolId": 1}}).status_code == 201
    student = {"studentUniqueId": "Ab-1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    assert api.post("/students", student).status_code == 201


def hints_of_schedule(api, name):
    period = {"classPeriodReference": {"classPeriodName": name, "schoolId": 1}}
    body = {"bellScheduleName": "B", "schoolReference": {"schoolId": 1}, "classPeriods": [period]}
    response = api.post("/bellSchedules", body)
    assert response.status_code == 409
    return "\n".join(response.json()["hints"])


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ("CAF\u00c9 pErIoD", '"Caf\u00e9 Period"'),
        ("Caf\u00e9  Period", '"Caf\\u00e9 Period"'),
        ("Cafe\u0301 Period", '"Caf\\u00e9 Period"'),
        ("Caf\u00e9\u200b Period", '"Caf\\u00e9 Period"'),
        ("caf\u00e9\u00a0period", '"Caf\\u00e9 Period"'),
    ],
)
def test_a_reference_to_what_looks_equal_names_the_stored_key(api, period, sent, named):
    said = hints_of_schedule(api, sent)

    assert "There is one with classPeriodName" in said
    assert named in said


def test_other_keys_are_not_named(api, period):
    assert "There is one with" not in hints_of_schedule(api, "Cafeteria Period")


def test_a_key_of_one_member_is_found_in_other_spellings(api, period):
    body = {
        "studentReference": {"studentUniqueId": "AB-1 "},
        "schoolReference": {"schoolId": 1},
        "entryDate": "2025-08-20",
        "entryGradeLevelDescriptor": GRADE,
    }

    for sent in ("ab-1", "AB-1", "Ab-1\u200b"):
        body["studentReference"] = {"studentUniqueId": sent}
        response = api.post("/studentSchoolAssociations", body)
        assert response.status_code == 409
        said = "\n".join(response.json()["hints"])
        assert 'There is one with studentUniqueId "Ab-1"' in said


def test_nothing_is_named_that_the_client_may_not_read(api, period):
    other = ApiTestClient(new_token("other", "SISVendor", education_organization_ids=[2]))
    period = {"classPeriodReference": {"classPeriodName": "caf\u00e9 period", "schoolId": 1}}
    body = {"bellScheduleName": "B", "schoolReference": {"schoolId": 1}, "classPeriods": [period]}

    response = other.post("/bellSchedules", body)

    assert "Caf\u00e9" not in response.content.decode()


def test_a_suggested_descriptor_is_shown_as_a_whole(api, period):
    stored = "Counseling Service for students of all grades"
    descriptor(api, "SexDescriptor", stored)
    sent = f"{ED_FI}/SexDescriptor#{stored}s"
    body = {"studentUniqueId": "2", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}

    response = api.post("/students", body | {"birthSexDescriptor": sent})

    said = "\n".join(response.json()["hints"])
    assert f'"{ED_FI}/SexDescriptor#{stored}"' in said
    assert f'"{sent}"' in said


def test_a_deleted_descriptor_is_not_suggested(api, period):
    path = descriptor(api, "SexDescriptor", "Female")
    student = {"studentUniqueId": "2", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    near, same = (student | {"birthSexDescriptor": f"{ED_FI}/SexDescriptor#{code}"} for code in ("Femal", "Female"))
    assert "#Female" in "\n".join(api.post("/students", near).json()["hints"])
    assert api.delete(path).status_code == 204

    for body in (near, same):
        said = "\n".join(api.post("/students", body).json()["hints"])
        assert "Did you mean" not in said


STRICT = {"HTTP_PREFER": "handling=strict"}


@pytest.mark.parametrize(
    "name", ["caf\u00e9 period", "Cafe\u0301 Period", "Caf\u00e9  Period", "Caf\u00e9\u200b Period"]
)
def test_strict_handling_refuses_a_key_that_looks_like_a_stored_one(api, period, name):
    twin = {"classPeriodName": name, "schoolReference": {"schoolId": 1}}

    refused = api.post("/classPeriods", twin, **STRICT)
    lenient = api.post("/classPeriods", twin)

    assert refused.status_code == 400
    assert list(refused.json()["validationErrors"]) == ["$.classPeriodName"]
    assert lenient.status_code == 201
    # What differs in case only is looked for under strict handling alone.
    noted = '"$.classPeriodName";reason=like-stored-key'
    assert lenient.headers.get("Lenient-Handling") == (None if name == "caf\u00e9 period" else noted)
    assert api.post("/classPeriods", twin, **STRICT).status_code == 200


def test_strict_handling_accepts_the_same_key_and_other_ones(api, period):
    for name in (PERIOD, "Other period"):
        sent = {"classPeriodName": name, "schoolReference": {"schoolId": 1}}
        assert api.post("/classPeriods", sent, **STRICT).status_code in (200, 201)


@pytest.mark.parametrize(
    ("namespace", "is_misspelt"),
    [
        ("uri: //lakeside.example/AccommodationDescriptor", True),
        ("uri:/lakeside.example/AccommodationDescriptor", True),
        ("uri//lakeside.example/AccommodationDescriptor", True),
        ("uri:///lakeside.example/AccommodationDescriptor", True),
        ("uri://lakeside .example/AccommodationDescriptor", True),
        ("url:lakeside.example", True),
        ("uri://lakeside.example/AccommodationDescriptor", False),
        ("URI://lakeside.example/AccommodationDescriptor", False),
        ("urn:lakeside:accommodations", False),
        ("http://lakeside.example/accommodations", False),
        ("lakeside", False),
    ],
)
def test_a_misspelt_namespace_is_noted_and_refused_by_strict_handling(api, namespace, is_misspelt):
    body = {"namespace": namespace, "codeValue": "AT", "shortDescription": "AT"}

    strict = api.post("/accommodationDescriptors", body, **STRICT)
    lenient = api.post("/accommodationDescriptors", body)

    assert strict.status_code == (400 if is_misspelt else 201)
    assert lenient.status_code == (201 if is_misspelt else 200)
    noted = '"$.namespace";reason=misspelt-namespace' if is_misspelt else None
    assert lenient.headers.get("Lenient-Handling") == noted

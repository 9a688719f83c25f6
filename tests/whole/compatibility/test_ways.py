"""What `MEADOWLARK_COMPATIBILITY=ods` changes, beyond the requests that an ODS/API has answered: at every depth and
through profiles; and that what is stored is the same with and without it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from edfi_api.core.security.profiles.loading import read_definitions, store_profiles
from tests.conftest import ApiTestClient, http, new_token
from tests.core.security.profiles.definitions import profile_xml
from tests.support.databases import connection, rolled_back
from tests.support.serving import like_the_ods

pytestmark = pytest.mark.django_db

ASSOCIATIONS = "/studentEducationOrganizationAssociations"
STUDENT = {"studentUniqueId": "77", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
ADDRESS = {
    "addressTypeDescriptor": "uri://ed-fi.org/AddressTypeDescriptor#Home",
    "city": "Lakeside",
    "postalCode": "78701",
    "stateAbbreviationDescriptor": "uri://ed-fi.org/StateAbbreviationDescriptor#TX",
    "streetNumberName": "1 Main Street",
}
SCHOOL = {
    "schoolId": 77,
    "nameOfInstitution": "Lakeside",
    "educationOrganizationCategories": [
        {"educationOrganizationCategoryDescriptor": "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"}
    ],
    "gradeLevels": [{"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"}],
}
BELL_SCHEDULE = {
    "bellScheduleName": "B",
    "schoolReference": {"schoolId": 77},
    "classPeriods": [{"classPeriodReference": {"classPeriodName": "1", "schoolId": 77}}],
}
RESOURCE = "StudentEducationOrganizationAssociation"
DESCRIPTORS = (
    ("AddressTypeDescriptor", "Home"),
    ("StateAbbreviationDescriptor", "TX"),
    ("EducationOrganizationCategoryDescriptor", "School"),
    ("GradeLevelDescriptor", "Ninth grade"),
)


@pytest.fixture(scope="module")
def stored(django_db_setup: None, django_db_blocker: Any) -> Iterator[ApiTestClient]:
    """A client, and descriptors, a school, a class period and a student."""
    with django_db_blocker.unblock(), rolled_back():
        api = ApiTestClient(new_token("ways", "FullAccess", education_organization_ids=[77]))
        for type_, code in DESCRIPTORS:
            body = {"namespace": f"uri://ed-fi.org/{type_}", "codeValue": code, "shortDescription": code}
            assert api.post(f"/{type_[0].lower()}{type_[1:]}s", body).status_code == 201
        assert api.post("/schools", SCHOOL).status_code == 201
        assert api.post("/students", STUDENT).status_code == 201
        class_period = {"classPeriodName": "1", "schoolReference": {"schoolId": 77}}
        assert api.post("/classPeriods", class_period).status_code == 201
        yield api


@pytest.fixture
def ods(stored: ApiTestClient) -> Iterator[ApiTestClient]:
    with rolled_back(), like_the_ods():
        yield stored


def association(**members: Any) -> dict[str, Any]:
    """One of the student with the school."""
    return {
        "studentReference": {"studentUniqueId": "77"},
        "educationOrganizationReference": {"educationOrganizationId": 77},
    } | members


def path_of(response: Any) -> str:
    assert response.status_code in (200, 201), response.content
    return response["Location"].removeprefix("http://testserver")


def body_in_database() -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SELECT body FROM document ORDER BY id DESC LIMIT 1")
        (body,) = cursor.fetchone()
    return body if isinstance(body, dict) else json.loads(body)


def test_collections_are_there_at_every_depth_and_are_not_stored(ods: ApiTestClient) -> None:
    sent = association(addresses=[ADDRESS])
    path = path_of(ods.post(ASSOCIATIONS, sent))

    read = ods.get(path).json()

    assert read["addresses"][0]["periods"] == []
    assert read["races"] == read["languages"] == read["telephones"] == []
    assert body_in_database() == sent


def test_what_was_read_can_be_sent_back_and_changes_nothing(ods: ApiTestClient) -> None:
    path = path_of(ods.post(ASSOCIATIONS, association(addresses=[ADDRESS])))
    read = ods.get(path)

    put = ods.put(path, read.json())

    assert put.status_code == 204
    assert put["ETag"] == read["ETag"]
    assert body_in_database() == association(addresses=[ADDRESS])


def test_the_same_document_without_the_setting(stored: ApiTestClient) -> None:
    with rolled_back():
        with like_the_ods():
            path = path_of(stored.post("/students", STUDENT | {"studentUniqueId": "78", "firstName": 5}))
            written = stored.get(path).json()
        with_hyphens = f"{path[:-32]}{path[-32:-24]}-{path[-24:-20]}-{path[-20:-16]}-{path[-16:-12]}-{path[-12:]}"
        read = stored.get(with_hyphens).json()

    assert written["id"] == read["id"].replace("-", "")
    assert read == STUDENT | {
        "studentUniqueId": "78",
        "firstName": "5",
        "id": read["id"],
        "_etag": written["_etag"],
        "_lastModifiedDate": f"{written['_lastModifiedDate'][:19]}Z",
    }


@pytest.mark.parametrize(
    "text", ["2010-02-03", "2010-2-3", "02/03/2010", "03-FEB-2010", "2010-02-03T00:00:00", "2010-02-03T00:00:00.000Z"]
)
def test_dates_are_read(ods: ApiTestClient, text: str) -> None:
    assert ods.post("/students", STUDENT | {"studentUniqueId": "78", "birthDate": text}).status_code == 201
    assert body_in_database()["birthDate"] == "2010-02-03"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("20100203", "2010-02-03"),
        ("20100203T000000", "2010-02-03"),
        ("2010-02-03T23:30:00-05:00", "2010-02-03"),
        ("2010-02-03T19:00:00-05:00", "2010-02-03"),
        ("2010-02-03 8:15 PM", "2010-02-03"),
    ],
)
def test_dates_that_are_refused_with_what_to_write(ods: ApiTestClient, text: str, day: str) -> None:
    periods = [{"beginDate": text}]
    refused = ods.post(ASSOCIATIONS, association(addresses=[ADDRESS | {"periods": periods}]))

    assert refused.status_code == 400
    assert refused.json()["validationErrors"] == {
        "$.addresses[0].periods[0].beginDate": ["The supplied value is invalid."]
    }
    assert f"For a date write {day}." in refused.json()["hints"][0]


@pytest.mark.parametrize(("text", "time"), [("08:15:00", "08:15:00"), ("10:00:00Z", "10:00:00")])
def test_times_are_read(ods: ApiTestClient, text: str, time: str) -> None:
    assert ods.post("/bellSchedules", BELL_SCHEDULE | {"startTime": text}).status_code == 201
    assert body_in_database()["startTime"] == time


@pytest.mark.parametrize(
    ("text", "time"),
    [("08:15:00.5", "08:15:00"), ("15:00:00,25Z", "15:00:00"), ("8:15 PM", "20:15:00"), ("08:15a.m.", "08:15:00")],
)
def test_times_that_are_refused_with_what_to_write(ods: ApiTestClient, text: str, time: str) -> None:
    refused = ods.post("/bellSchedules", BELL_SCHEDULE | {"startTime": text})

    assert refused.json()["validationErrors"] == {"$.startTime": ["The supplied value is invalid."]}
    assert f"Write {time}." in refused.json()["hints"][0]


def test_whole_decimals_have_a_decimal_place(ods: ApiTestClient) -> None:
    staff = {"staffUniqueId": "5", "firstName": "A", "lastSurname": "B", "yearsOfPriorTeachingExperience": 67}
    path = path_of(ods.post("/staffs", staff))

    assert '"yearsOfPriorTeachingExperience":67.0' in ods.get(path).content.decode()
    assert body_in_database()["yearsOfPriorTeachingExperience"] == 67


def test_a_profile_shows_no_collections_that_it_hides(ods: ApiTestClient) -> None:
    path = path_of(ods.post(ASSOCIATIONS, association(addresses=[ADDRESS])))
    rules = 'IncludeOnly: <Collection name="Addresses" memberSelection="IncludeAll"/>'
    store_profiles(read_definitions(profile_xml(RESOURCE, rules, name="Some")), by="tests")
    accept = "application/vnd.ed-fi.studenteducationorganizationassociation.some.readable+json"

    read = ods.get(path, HTTP_ACCEPT=accept).json()

    assert read["addresses"][0]["periods"] == []
    assert "races" not in read


@pytest.mark.parametrize("text", ["<b>x</b>", "a<b", "</b", "<!--", "a&#39;b"])
def test_markup_is_refused_in_texts_at_every_depth(ods: ApiTestClient, text: str) -> None:
    response = ods.post(ASSOCIATIONS, association(addresses=[ADDRESS | {"city": text}]))

    assert response.status_code == 400
    assert list(response.json()["validationErrors"]) == ["$.addresses[0].city"]


@pytest.mark.parametrize("text", ["a < b", "1<2", "a & b", "R&D", "a<", "a&"])
def test_other_texts_with_these_characters_are_accepted(ods: ApiTestClient, text: str) -> None:
    assert ods.post(ASSOCIATIONS, association(addresses=[ADDRESS | {"city": text}])).status_code == 201


def test_numbers_are_texts_at_every_depth(ods: ApiTestClient) -> None:
    path_of(ods.post(ASSOCIATIONS, association(addresses=[ADDRESS | {"postalCode": 78701, "city": True}])))

    [address] = body_in_database()["addresses"]
    assert (address["postalCode"], address["city"]) == ("78701", "true")


@pytest.mark.parametrize(
    ("path", "headers", "expected"),
    [
        ("/students?correlationId=in-query", {}, "in-query"),
        ("/students?correlationId=in-query", {"HTTP_CORRELATION_ID": "in-header"}, "in-header"),
    ],
)
def test_the_correlation_id_of_the_ods(ods: ApiTestClient, path: str, headers: dict[str, str], expected: str) -> None:
    response = ods.post(path, {}, **headers)

    assert response.json()["correlationId"] == expected


def test_of_repeated_comparisons_all_count_and_of_other_parameters_the_first(ods: ApiTestClient) -> None:
    since, before = "comparisons=birthDate[gte]=1900-01-01", "comparisons=birthDate[lt]=1900-01-02"

    assert len(ods.get(f"/students?{since}&limit=1&limit=0").json()) == 1
    assert ods.get(f"/students?{since}&{before}").json() == []


@pytest.mark.parametrize(
    "query", ["/students?limit=abc", "/students?LIMIT=abc", "/students/partitions?number=1.5", "/students?id=abc"]
)
def test_the_hint_names_the_parameter_as_it_was_sent(ods: ApiTestClient, query: str) -> None:
    refused = ods.get(query)

    assert refused.json()["hints"][0].startswith(f"{query.partition('?')[2]} was sent.")


def test_deletes_ignore_what_they_do_not_know(ods: ApiTestClient) -> None:
    for tail in ("deletes", "keyChanges"):
        assert ods.get(f"/students/{tail}?correlationId=1&pageToken=x&lastSurname=y").status_code == 200


def test_the_list_of_documents_has_one_of_all(ods: ApiTestClient) -> None:
    listed = {each["name"]: each["endpointUri"] for each in http().get("/metadata?sdk=true").json()}

    document = http().get(listed["All"].removeprefix("http://testserver")).json()

    assert {"/ed-fi/students", "/ed-fi/sexDescriptors"} <= document["paths"].keys()
    assert document["paths"]["/ed-fi/students/{id}"]["delete"]["operationId"] == "deleteStudentById"
    example = document["paths"]["/ed-fi/students"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert isinstance(example["otherNames"], list)


def test_items_of_inherited_collections_have_one_schema(ods: ApiTestClient) -> None:
    schemas = http().get("/metadata/data/v3/swagger.json").json()["components"]["schemas"]

    items = {
        (name, member): value["items"]["$ref"].rpartition("/")[2]
        for name in ("edFi_school", "edFi_localEducationAgency", "edFi_studentCTEProgramAssociation")
        for member, value in schemas[name]["properties"].items()
        if value.get("type") == "array"
    }
    assert items["edFi_school", "educationOrganizationCategories"] == "edFi_educationOrganizationCategory"
    assert items["edFi_localEducationAgency", "categories"] == "edFi_educationOrganizationCategory"
    assert items["edFi_school", "addresses"] == "edFi_educationOrganizationAddress"
    assert items["edFi_school", "gradeLevels"] == "edFi_schoolGradeLevel"
    assert (
        items["edFi_studentCTEProgramAssociation", "programParticipationStatuses"]
        == "edFi_generalStudentProgramAssociationProgramParticipationStatus"
    )
    periods = schemas["edFi_educationOrganizationAddress"]["properties"]["periods"]["items"]
    assert periods == {"$ref": "#/components/schemas/edFi_educationOrganizationAddressPeriod"}
    assert not {"edFi_schoolAddress", "edFi_school_addresses"} & schemas.keys()


def test_a_put_without_a_body(ods: ApiTestClient) -> None:
    path = path_of(ods.post("/students", STUDENT | {"studentUniqueId": "79"}))

    response = ods.request("put", path)

    assert response.json()["validationErrors"] == {"$": ["A non-empty request body is required."]}


def test_items_that_contradict_the_document_are_named_each(ods: ApiTestClient) -> None:
    references = [{"classPeriodReference": {"classPeriodName": name, "schoolId": id_}} for name, id_ in PERIODS]
    schedule = {"bellScheduleName": "B", "schoolReference": {"schoolId": 77}, "classPeriods": references}

    found = ods.post("/bellSchedules", schedule).json()["validationErrors"]

    assert list(found) == [f"$.classPeriods[{n}].classPeriodReference.schoolId" for n in (0, 2)]
    assert all("'77', '78'" in text for [text] in found.values())


PERIODS = (("1", 78), ("2", 77), ("3", 78))

"""With `MEADOWLARK_COMPATIBILITY=ods` members of identification codes are query fields, and a parameter that may be
meant as a filter is never ignored."""

from collections.abc import Callable

import pytest
from django.db import connection

from edfi_api.model.surface.resource import Resource
from edfi_api.web.metadata.paths import query_parameters
from tests.conftest import ApiTestClient
from tests.core.queries.touched import touched
from tests.support.factories import STUDENT
from tests.support.serving import OTHERS_MARKED, served

ORGANIZATIONS = ["educationOrganizationIdentificationSystemDescriptor", "identificationCode"]
PERSONS = ["assigningOrganizationIdentificationCode", "identificationCode"]
FIELDS = {
    "assessments": ["assessmentIdentificationSystemDescriptor", *PERSONS],
    "communityOrganizations": ORGANIZATIONS,
    "communityProviders": ORGANIZATIONS,
    "courseTranscripts": ["courseIdentificationSystemDescriptor", "identificationCode"],
    "courses": [
        "assigningOrganizationIdentificationCode",
        "courseCatalogURL",
        "courseIdentificationSystemDescriptor",
        "identificationCode",
    ],
    "educationOrganizationNetworks": ORGANIZATIONS,
    "educationServiceCenters": ORGANIZATIONS,
    "learningStandards": ["contentStandardName", "identificationCode"],
    "localEducationAgencies": ORGANIZATIONS,
    "organizationDepartments": ORGANIZATIONS,
    "postSecondaryInstitutions": ORGANIZATIONS,
    "schools": ORGANIZATIONS,
    "staffs": [*PERSONS, "staffIdentificationSystemDescriptor"],
    "stateEducationAgencies": ORGANIZATIONS,
    "studentEducationOrganizationAssociations": [*PERSONS, "studentIdentificationSystemDescriptor"],
}


@pytest.fixture
def as_ods(settings) -> None:
    settings.EDFI_API = settings.EDFI_API | {"COMPATIBILITY": "ods", "IGNORE_UNKNOWN_PARAMETERS": True}


@pytest.mark.parametrize("standard", OTHERS_MARKED)
def test_every_resource_with_identification_codes_has_their_fields(standard: str) -> None:
    surface = served(standard).surface

    found = {each.endpoint: sorted(field.name for field in each.code_fields) for each in surface.resources}

    assert {endpoint: names for endpoint, names in found.items() if names} == FIELDS


CONTENT_STANDARD = {"identificationCode": "MA.1", "contentStandardName": "State Standard"}
CATALOG = {
    "courseIdentificationSystemDescriptor": "uri://ed-fi.org/CourseIdentificationSystemDescriptor#Value",
    "identificationCode": "C1",
    "courseCatalogURL": "https://example.org/C1",
    "assigningOrganizationIdentificationCode": "LEA",
}


@pytest.fixture
def stored_with_code(api: ApiTestClient, documents, resource_named) -> Callable[[str, dict[str, str]], str]:
    """`stored_with_code("Course", code)` stores a document with this code, and returns the path of its resource."""

    def stored_with_code(name: str, code: dict[str, str]) -> str:
        resource = resource_named(name)
        codes = "alternativeCourseIdentificationCodes" if name == "CourseTranscript" else "identificationCodes"
        body = documents.minimal_body(resource) | {codes: [code]}
        documents.store_targets(resource, body)
        path: str = resource.url_path.removeprefix("/ed-fi")
        assert api.post(path, body).status_code == 201
        return path

    return stored_with_code


@pytest.mark.usefixtures("as_ods")
@pytest.mark.parametrize(
    ("name", "code", "numbers_found"),
    [
        (
            "LearningStandard",
            CONTENT_STANDARD,
            {
                "contentStandardName=State%20Standard": 1,
                "contentStandardName=Other": 0,
                "contentstandardname=State%20Standard&identificationCode=MA.1": 1,
            },
        ),
        (
            "Course",
            CATALOG,
            {
                "courseCatalogURL=https://example.org/C1": 1,
                "courseCatalogURL=https://example.org/C2": 0,
                "assigningOrganizationIdentificationCode=LEA&identificationCode=C1": 1,
            },
        ),
        ("CourseTranscript", CATALOG, {"identificationCode=C1": 1, "identificationCode=C2": 0}),
    ],
)
def test_members_of_codes_find_documents(api: ApiTestClient, stored_with_code, name, code, numbers_found) -> None:
    path = stored_with_code(name, code)

    assert {query: len(api.get(f"{path}?{query}").json()) for query in numbers_found} == numbers_found


@pytest.fixture
def schools(api: ApiTestClient, documents, resource_named: Callable[[str], Resource]) -> None:
    """One with the codes A of the state and B of the federation, one with the code B of the state."""
    school, system = resource_named("School"), resource_named("EducationOrganizationIdentificationSystemDescriptor")
    states = [
        api.post(
            system.url_path.removeprefix("/ed-fi"),
            {"namespace": "uri://x", "codeValue": each, "shortDescription": each},
        )
        for each in ("State", "Federal")
    ]
    assert [each.status_code for each in states] == [201, 201]
    for school_id, codes in ((1, {"State": "A", "Federal": "B"}), (2, {"State": "B"}), (3, {})):
        items = [
            {"identificationCode": code, "educationOrganizationIdentificationSystemDescriptor": f"uri://x#{each}"}
            for each, code in codes.items()
        ]
        body = documents.minimal_body(school) | {"schoolId": school_id, "identificationCodes": items}
        documents.store_targets(school, body)
        assert api.post("/schools", body).status_code == 201


@pytest.mark.usefixtures("as_ods", "schools")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("identificationCode=A", [1]),
        ("IdentificationCode=B", [1, 2]),
        ("identificationCode=b", []),
        ("educationOrganizationIdentificationSystemDescriptor=URI://X%23state", [1, 2]),
        ("identificationCode=B&educationOrganizationIdentificationSystemDescriptor=uri://x%23Federal", [1]),
        ("identificationCode=A&educationOrganizationIdentificationSystemDescriptor=uri://x%23Federal", []),
        ("identificationCode=B&schoolId=2", [2]),
        ("identificationCode=", []),
    ],
)
def test_documents_are_found_by_an_item(api: ApiTestClient, query: str, found: list[int]) -> None:
    assert [each["schoolId"] for each in api.get(f"/schools?{query}").json()] == found
    assert api.get(f"/schools?{query}&totalCount=true&limit=0")["Total-Count"] == str(len(found))


@pytest.mark.usefixtures("as_ods", "schools")
def test_the_index_over_bodies_finds_them(api: ApiTestClient) -> None:
    count = "/schools?identificationCode=A&totalCount=true&limit=0"
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")

    cost = touched(lambda: api.get(count))

    assert (cost.searches_of_bodies, cost.full_scans) == (1, 0)


@pytest.mark.usefixtures("as_ods")
def test_they_have_no_operators(api: ApiTestClient) -> None:
    refused = api.get("/schools?identificationCode[prefix]=A")

    assert refused.status_code == 400
    assert "those of identificationCode are: none" in refused.json()["errors"][0]


@pytest.mark.usefixtures("schools")
def test_by_default_they_are_unknown(api: ApiTestClient) -> None:
    assert api.get("/schools?identificationCode=A").status_code == 400


@pytest.mark.parametrize("is_ods", [False, True])
def test_openapi_has_them_where_they_are_offered(settings, resource_named, is_ods: bool) -> None:
    settings.EDFI_API = settings.EDFI_API | {"COMPATIBILITY": "ods" if is_ods else ""}

    parameters = {each["name"]: each for each in query_parameters(resource_named("LearningStandard"), ())}

    assert ("contentStandardName" in parameters) is is_ods
    if is_ods:
        assert parameters["identificationCode"]["schema"] == {"type": "string", "maxLength": 60}
        assert parameters["identificationCode"]["in"] == "query"


@pytest.mark.usefixtures("as_ods")
@pytest.mark.parametrize(
    "parameter",
    [
        "city",
        "addresses",
        "addresses.city",
        "addresses[0].city",
        "CITY",
        "_etag",
        "_lastModifiedDate",
        "nameOfInstitution.like",
        "nameOfInstitution__startswith",
        "nameOfInstitution:contains",
        "nameOfInstitutionLike",
        "name_of_institution",
        "minSchoolId",
        "schoolId_gte",
        "schoolId!",
        "schoolId.gte",
        "schoolId__gte",
        "schoolId>",
        "schoolId<",
        "schoolId:gte",
        "schoolId-gte",
        "schoolId(gte)",
        "gte(schoolId)",
        "schoolId[$gte]",
        "schoolId[][gte]",
        "schoolId[]",
        "schoolId[0]",
        "SCHOOLID.GTE",
        "schoolIdGreaterThanOrEqualTo",
        "school_id_greater_than_or_equal",
        "schoolIdRange",
        "startSchoolId",
        "schoolIdEnd",
        "has_school_id",
        "schoolIds",
        "name[prefix]",
        "name[startsWith]",
        "comparison",
        "comparisons[]",
        "comparisons[0]",
        "nameOfInstitution~",
        "$filter",
        "filter",
        "filter[nameOfInstitution]",
        "where",
        "_ext.sample.city",
    ],
)
def test_a_parameter_that_may_be_a_filter_is_never_ignored(api: ApiTestClient, parameter: str) -> None:
    refused = api.get("/schools", QUERY_STRING=f"{parameter}=x")

    assert refused.status_code == 400
    assert parameter in str(refused.json())
    assert api.get("/schools/partitions", QUERY_STRING=f"{parameter}=x").status_code == 400


@pytest.mark.usefixtures("as_ods")
@pytest.mark.parametrize(
    "address",
    ["/termDescriptors?termDescriptorId=17", "/sessions?termDescriptorId=17", "/students?studentUSI=17"],
)
def test_numbers_of_the_database_of_the_ods_are_never_ignored(api: ApiTestClient, address: str) -> None:
    refused = api.get(address)

    assert refused.status_code == 400
    assert address.partition("?")[2].partition("=")[0] in refused.json()["errors"][0]


@pytest.mark.usefixtures("as_ods")
@pytest.mark.parametrize(
    "parameter",
    ["q", "_", "utm_source", "api-version", "api_version", "apikey", "trace.id", "colour", "schoolTypeId", "$top"],
)
def test_others_are_ignored(api: ApiTestClient, parameter: str) -> None:
    assert api.post("/students", STUDENT).status_code == 201

    assert len(api.get("/students", QUERY_STRING=f"{parameter}=x").json()) == 1


@pytest.mark.usefixtures("as_ods")
def test_a_profile_hides_the_fields_of_hidden_codes() -> None:
    from edfi_api.core.queries.parameters import with_visible_fields  # noqa: PLC0415
    from edfi_api.model.profiles.view import ObjectView  # noqa: PLC0415

    staff = next(each for each in served("5.2").surface.resources if each.endpoint == "staffs")

    assert with_visible_fields(staff, ObjectView(frozenset({"firstName"}), {})).code_fields == ()
    assert len(with_visible_fields(staff, ObjectView(frozenset({"identificationCodes"}), {})).code_fields) == 3

"""A request with two errors is answered according to
meadowlark/docs/reference/contract.md#order-of-checks."""

from tests.conftest import ApiTestClient, item_path, new_token


def test_a_taken_identity_is_reported_before_a_referrer_that_contradicts(api, documents, resource_named):
    documents.store(resource_named("School"))
    school = {"schoolReference": {"schoolId": 1008}}
    paths = {name: item_path(api.post("/classPeriods", school | {"classPeriodName": name})) for name in ("P1", "P2")}
    both = [{"classPeriodReference": {"classPeriodName": name, "schoolId": 1008}} for name in paths]
    api.post("/bellSchedules", school | {"bellScheduleName": "S", "classPeriods": both})

    response = api.put(paths["P1"], school | {"classPeriodName": "P2", "id": paths["P1"].rsplit("/", 1)[1]})

    assert response.status_code == 409, response.content
    assert response.json()["type"] == "urn:ed-fi:api:identity-conflict"


def test_a_fixed_identity_is_reported_before_a_missing_document(api, documents, resource_named):
    resource = resource_named("AcademicWeek")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    path = item_path(api.post("/academicWeeks", body))

    response = api.put(path, body | {"schoolReference": {"schoolId": 999}, "id": path.rsplit("/", 1)[1]})

    assert response.status_code == 400, response.content
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:bad-request:data-validation-failed:key-change-not-supported"


def test_an_unknown_descriptor_is_reported_before_a_fixed_identity(api, documents, resource_named):
    resource = resource_named("LocalEducationAgency")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    path = item_path(api.post("/localEducationAgencies", body))
    unknown = {"localEducationAgencyCategoryDescriptor": "uri://ed-fi.org/LocalEducationAgencyCategoryDescriptor#None"}

    response = api.put(path, body | unknown | {"localEducationAgencyId": 5, "id": path.rsplit("/", 1)[1]})

    assert response.status_code == 400, response.content
    assert response.json()["validationErrors"].keys() == {"$.localEducationAgencyCategoryDescriptor"}


def test_an_unknown_descriptor_in_a_key_is_reported_before_authorization(api, documents, resource_named):
    body = documents.minimal_body(resource_named("StudentProgramAssociation"))
    district = ApiTestClient(new_token("district", "SISVendor", education_organization_ids=[1]))

    response = district.post("/studentProgramAssociations", body)

    assert response.status_code == 400
    assert "$.programReference.programTypeDescriptor" in response.json()["validationErrors"]

"""An extension project over HTTP, on each bundled standard."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path

LAKE = "/data/lake-county"


@pytest.fixture
def pier(api, documents, own) -> int:
    """The number of a stored pier."""
    documents.store(own("Pier"))
    return documents.minimal_body(own("Pier"))["pierNumber"]


@pytest.fixture
def school(api, documents, resource_named):
    """The body of a school whose targets are stored."""
    resource = resource_named("School")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    return body


def with_additions(body, **members):
    return body | {"_ext": {"lakecounty": {"foundingDate": "1901-09-01"} | members}}


def test_resources_of_the_extension_are_below_its_own_segment(api, pier):
    listed = api.get(f"{LAKE}/piers?pierNumber={pier}")

    assert [document["pierNumber"] for document in listed.json()] == [pier]
    assert listed["x-metaed-project-name"] == "LakeCounty"
    assert listed["x-metaed-project-version"] == "1.2.0"
    assert api.get("/data/LAKE-COUNTY/PIERS").status_code == 200
    assert api.get("/data/lakecounty/piers").status_code == 404
    assert api.get("/data/ed-fi/piers").status_code == 404


def test_descriptors_of_the_extension_are_below_its_own_segment(api, documents, own):
    body = documents.minimal_body(own("MooringDescriptor"))

    assert api.post(f"{LAKE}/mooringDescriptors", body).status_code == 201
    assert api.get("/data/ed-fi/mooringDescriptors").status_code == 404


def test_entities_of_one_name_in_two_projects_are_two_resources(api, documents, own, resource_named):
    assert api.post(f"{LAKE}/sections", {"sectionIdentifier": "Bow"}).status_code == 201
    documents.store(resource_named("Section"))

    assert [s["sectionIdentifier"] for s in api.get(f"{LAKE}/sections").json()] == ["Bow"]
    assert [s["sectionIdentifier"] for s in api.get("/data/ed-fi/sections").json()] == ["Value"]


def test_a_reference_leads_to_the_entity_of_its_own_project(api, documents, own):
    crossing = documents.minimal_body(own("Crossing"), sectionReference={"sectionIdentifier": "Stern"})
    documents.store_targets(own("Crossing"), documents.minimal_body(own("Crossing")))

    refused = api.post(f"{LAKE}/crossings", crossing)
    api.post(f"{LAKE}/sections", {"sectionIdentifier": "Stern"})
    created = api.post(f"{LAKE}/crossings", crossing)

    assert refused.status_code == 409
    assert created.status_code == 201
    link = api.get(item_path(created)).json()["sectionReference"]["link"]
    assert link["rel"] == "Section"
    assert link["href"].startswith("/lake-county/sections/")


def test_a_key_of_ext_may_be_the_segment_of_urls(api, school):
    sent = school | {"_ext": {"lake-county": {"foundingDate": "1901-09-01"}}}

    refused = api.post("/schools", sent, HTTP_PREFER="handling=strict")
    created = api.post("/schools", sent)

    assert list(refused.json()["validationErrors"]) == ["$._ext.lake-county"]
    assert created["Lenient-Handling"] == '"$._ext.lake-county";reason=other-case'
    assert api.get(item_path(created)).json()["_ext"] == {"lakecounty": {"foundingDate": "1901-09-01"}}


def test_additions_are_stored_and_served_below_ext(api, school):
    sent = with_additions(school, lakeShare=0.25, mottos=None)
    expected = with_additions(school, lakeShare=0.25)

    path = item_path(api.post("/schools", sent))

    assert api.get(path).json()["_ext"] == expected["_ext"]


def test_a_document_without_additions_is_unchanged(api, school):
    path = item_path(api.post("/schools", school))

    assert "_ext" not in api.get(path).json()


def test_additions_are_validated(api, school):
    body = school | {"_ext": {"lakecounty": {"foundingDate": "yesterday", "lakeShare": "much"}}}

    response = api.post("/schools", body)

    assert response.status_code == 400
    assert set(response.json()["validationErrors"]) == {
        "$._ext.lakecounty.foundingDate",
        "$._ext.lakecounty.lakeShare",
    }


def test_decimals_of_additions_keep_their_digits(api, school):
    response = api.post("/schools", with_additions(school, lakeShare=10.5))

    assert response.json()["validationErrors"] == {
        "$._ext.lakecounty.lakeShare": ["lakeShare must be between -9.99 and 9.99."]
    }


def test_required_additions_are_required_where_the_extension_is_used(api, school):
    response = api.post("/schools", school | {"_ext": {"lakecounty": {"lakeShare": 0.5}}})

    assert response.status_code == 400
    assert list(response.json()["validationErrors"]) == ["$._ext.lakecounty.foundingDate"]


@pytest.mark.parametrize("nothing", [{}, {"lakecounty": {}}, {"lakecounty": None}, {"elsewhere": {"gateCode": "7"}}])
def test_an_empty_ext_is_neither_stored_nor_served(api, school, nothing):
    path = item_path(api.post("/schools", school))
    before = api.get(path)

    again = api.post("/schools", school | {"_ext": nothing})

    assert again.status_code == 200
    assert "_ext" not in Document.objects.get(natural_key=f"NK#schoolId={school['schoolId']}").body
    assert api.get(path).content == before.content
    assert api.get(path)["ETag"] == before["ETag"]


def test_an_empty_ext_of_an_item_is_neither_stored_nor_served(api, documents, resource_named, pier):
    resource = resource_named("School")
    body = documents.full_body(resource)
    documents.store_targets(resource, body)
    body["addresses"][0]["_ext"] = {"lakecounty": {}}

    path = item_path(api.post("/schools", body))

    assert "_ext" not in api.get(path).json()["addresses"][0]


@pytest.mark.parametrize("wrong", [[1], "", 0, {"lakecounty": []}])
def test_an_ext_of_another_type_is_refused(api, school, wrong):
    response = api.post("/schools", school | {"_ext": wrong})

    assert response.status_code == 400
    (path,) = response.json()["validationErrors"]
    assert path in ("$._ext", "$._ext.lakecounty")


def test_unknown_members_of_ext_are_dropped(api, school):
    body = with_additions(school, unknown=1)
    body["_ext"]["elsewhere"] = {"gateCode": "77"}

    path = item_path(api.post("/schools", body))

    assert api.get(path).json()["_ext"] == with_additions(school)["_ext"]


def test_values_in_additions_are_coerced(api, school):
    body = with_additions(school, foundingDate="09/01/1901", lakeShare="0.50")

    path = item_path(api.post("/schools", body))

    assert api.get(path).json()["_ext"] == {"lakecounty": {"foundingDate": "1901-09-01", "lakeShare": 0.5}}


def test_references_in_additions_are_enforced_and_linked(api, school, pier):
    missing = api.post("/schools", with_additions(school, pierReference={"pierNumber": 998}))
    created = api.post("/schools", with_additions(school, pierReference={"pierNumber": pier}))

    assert missing.status_code == 409
    assert missing.json()["type"] == "urn:ed-fi:api:data-conflict:unresolved-reference"
    reference = api.get(item_path(created)).json()["_ext"]["lakecounty"]["pierReference"]
    assert reference["link"]["href"].startswith("/lake-county/piers/")


def test_targets_of_additions_cannot_be_deleted(api, school, pier):
    api.post("/schools", with_additions(school, pierReference={"pierNumber": pier}))
    (stored,) = api.get(f"{LAKE}/piers").json()

    response = api.delete(f"{LAKE}/piers/{stored['id']}")

    assert response.status_code == 409
    assert response.json()["type"] == "urn:ed-fi:api:data-conflict:dependent-item-exists"


def test_key_changes_cascade_to_additions(api, school, pier):
    path = item_path(api.post("/schools", with_additions(school, pierReference={"pierNumber": pier})))
    (stored,) = api.get(f"{LAKE}/piers").json()

    changed = api.put(f"{LAKE}/piers/{stored['id']}", stored | {"pierNumber": 77})

    assert changed.status_code == 204
    assert api.get(path).json()["_ext"]["lakecounty"]["pierReference"]["pierNumber"] == 77


def test_duplicate_items_of_arrays_in_additions_are_refused(api, school):
    twice = with_additions(school, mottos=[{"schoolMotto": "Row!"}, {"schoolMotto": "Row!"}])

    response = api.post("/schools", twice)

    assert response.status_code == 400
    assert list(response.json()["validationErrors"]) == ["$._ext.lakecounty.mottos"]


def test_a_common_extension_is_part_of_each_item(api, documents, resource_named, pier):
    resource = resource_named("School")
    full = documents.full_body(resource)
    documents.store_targets(resource, full)

    path = item_path(api.post("/schools", full))

    (address,) = api.get(path).json()["addresses"]
    assert address["_ext"]["lakecounty"]["landing"] == "Value"
    assert address["_ext"]["lakecounty"]["pierReference"]["link"]["rel"] == "Pier"


def test_a_common_extension_is_validated_in_each_item(api, documents, resource_named):
    resource = resource_named("School")
    full = documents.full_body(resource)
    documents.store_targets(resource, full)
    del full["addresses"][0]["_ext"]["lakecounty"]["landing"]

    response = api.post("/schools", full)

    assert list(response.json()["validationErrors"]) == ["$.addresses[0]._ext.lakecounty.landing"]


def test_only_the_declaring_entity_has_the_common_extension(api, documents, resource_named, own):
    """School and Staff extend their addresses; a sailing school has plain ones."""
    resource = own("SailingSchool")
    full = documents.full_body(resource)
    documents.store_targets(resource, full)

    path = item_path(api.post(f"{LAKE}/sailingSchools", full))

    assert "_ext" not in api.get(path).json()["addresses"][0]


def test_a_subclass_of_the_extension_can_be_referenced_as_its_superclass(api, documents, own):
    sailing_school = documents.minimal_body(own("SailingSchool"), sailingSchoolId=4711)
    documents.store_targets(own("SailingSchool"), sailing_school)
    association = documents.minimal_body(
        own("StudentFerryAssociation"), payingEducationOrganizationReference={"educationOrganizationId": 4711}
    )
    documents.store_targets(own("StudentFerryAssociation"), documents.minimal_body(own("StudentFerryAssociation")))

    refused = api.post(f"{LAKE}/studentFerryAssociations", association)
    api.post(f"{LAKE}/sailingSchools", sailing_school)
    created = api.post(f"{LAKE}/studentFerryAssociations", association)

    assert refused.status_code == 409
    assert created.status_code == 201, created.content
    link = api.get(item_path(created)).json()["payingEducationOrganizationReference"]["link"]
    assert link["rel"] == "SailingSchool"
    assert link["href"].startswith("/lake-county/sailingSchools/")


def test_an_organization_id_is_unique_across_the_subclasses_of_all_projects(api, documents, own, school):
    api.post("/schools", school)
    sailing_school = documents.minimal_body(own("SailingSchool"), sailingSchoolId=school["schoolId"])
    documents.store_targets(own("SailingSchool"), sailing_school)

    response = api.post(f"{LAKE}/sailingSchools", sailing_school)

    assert response.status_code == 409
    assert response.json()["type"] == "urn:ed-fi:api:identity-conflict"


def test_subclasses_of_an_entity_of_the_extension_share_its_identity(api, documents, own):
    documents.store(own("Ferry"))

    response = api.post(f"{LAKE}/rafts", {"raftCode": documents.minimal_body(own("Ferry"))["ferryCode"]})

    assert response.status_code == 409
    assert api.get(f"{LAKE}/vessels").status_code == 404


def test_a_merge_across_projects_requires_equal_values(api, documents, own):
    resource = own("StudentFerryAssociation")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    body["studentSchoolAssociationReference"]["studentUniqueId"] = "Another"

    response = api.post(f"{LAKE}/studentFerryAssociations", body)

    assert response.status_code == 400
    assert set(response.json()["validationErrors"]) == {
        "$.studentReference.studentUniqueId",
        "$.studentSchoolAssociationReference.studentUniqueId",
    }


def test_values_of_one_key_column_agree_between_core_and_extension(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    full = documents.full_body(resource)
    documents.store_targets(resource, full)
    full["_ext"]["lakecounty"]["sectionReference"]["schoolId"] += 1

    response = api.post("/studentSchoolAssociations", full)

    assert set(response.json()["validationErrors"]) == {
        "$._ext.lakecounty.sectionReference.schoolId",
        "$.schoolReference.schoolId",
    }


@pytest.mark.parametrize(
    ("parameters", "is_found"),
    [
        ("ferryCode=Value", True),
        ("plannedCrossingDate=2025-08-20&schoolYear=2026", True),
        ("schoolYear=2025", False),
        ("wind=0.5&cancelled=true&passengers=1", False),
        ("bell=08:00:00", True),
    ],
)
def test_documents_of_the_extension_are_queryable(api, documents, own, parameters, is_found):
    documents.store(own("Crossing"))

    assert len(api.get(f"{LAKE}/crossings?{parameters}").json()) == int(is_found)


def test_additions_are_no_query_fields(api, school):
    api.post("/schools", with_additions(school))

    response = api.get("/schools?foundingDate=1901-09-01")

    assert response.status_code == 400


def test_members_of_references_to_the_core_are_query_fields_by_role(api, documents, own):
    documents.store(own("Ferry"))
    (ferry,) = api.get(f"{LAKE}/ferries").json()

    assert api.get(f"{LAKE}/ferries?homeSchoolId={ferry['homeSchoolReference']['schoolId']}").json() == [ferry]


@pytest.mark.parametrize("key", ["LakeCounty", "LAKECOUNTY", "lakeCounty"])
def test_the_key_of_the_project_is_read_in_any_case_and_reported(api, school, key):
    created = api.post("/schools", with_additions(school))
    additions = {"foundingDate": "1902-09-01"}

    written = api.post("/schools", school | {"_ext": {key: additions}})

    assert written.status_code == 200, written.content
    assert written["Lenient-Handling"] == f'"$._ext.{key}";reason=other-case'
    assert api.get(item_path(created)).json()["_ext"] == {"lakecounty": additions}
    strictly = api.post("/schools", school | {"_ext": {key: additions}}, HTTP_PREFER="handling=strict")
    assert list(strictly.json()["validationErrors"]) == [f"$._ext.{key}"]


def test_two_spellings_of_the_key_are_refused_by_both_names(api, school):
    extensions = {"lakecounty": {"foundingDate": "1901-09-01"}, "LakeCounty": {"foundingDate": "1902-09-01"}}

    refused = api.post("/schools", school | {"_ext": extensions})

    assert refused.status_code == 400
    assert refused.json()["validationErrors"] == {
        "$._ext.LakeCounty": [
            "LakeCounty and lakecounty are two spellings of one member; only one of them can be sent."
        ]
    }


def test_members_of_an_extension_in_another_case_are_refused(api, school):
    refused = api.post("/schools", school | {"_ext": {"LakeCounty": {"FoundingDate": "1901-09-01"}}})

    assert refused.json()["validationErrors"] == {
        "$._ext.LakeCounty.FoundingDate": [
            "FoundingDate is not a member of this resource; its name is spelt foundingDate."
        ]
    }


def test_an_extension_as_a_whole_is_optional_though_it_has_required_members(api, school):
    incomplete = {"_ext": {"lakecounty": {"mottos": [{"schoolMotto": "Sail"}]}}}

    assert api.post("/schools", school).status_code == 201
    assert list(api.post("/schools", school | incomplete).json()["validationErrors"]) == [
        "$._ext.lakecounty.foundingDate"
    ]

"""Securable elements, stored as columns by every writer of documents."""

import pytest

from edfi_api.core.documents.securables import Securables, SecurablesExtractor, groups
from edfi_api.core.models import Document
from edfi_api.model.surface.resource import ALL_ITEMS

NOTHING = Securables(*[None] * len(Securables._fields))


@pytest.fixture
def securables(documents, resource_named):
    """The securable columns of the minimal document of a resource, with changed members."""

    def find(name, **changes):
        resource = resource_named(name)
        return SecurablesExtractor(resource).securables(documents.minimal_body(resource, **changes))

    return find


def test_a_document_of_a_student_at_a_school(securables):
    found = securables("StudentSchoolAssociation", schoolReference={"schoolId": 7})

    assert found == NOTHING._replace(organization=7, student="Value", opens_pathway=True)


def test_a_document_without_an_authorization_path_is_not_marked(securables):
    assert securables("StudentSectionAssociation").opens_pathway is None


def test_a_document_without_securable_elements(securables):
    assert securables("SchoolYearType") == NOTHING


def test_a_descriptor_has_its_namespace(securables):
    assert securables("TermDescriptor").namespace == "uri://ed-fi.org/TermDescriptor"


def test_an_organization_has_its_own_id_and_those_of_its_parents(securables):
    found = securables("School", schoolId=7, localEducationAgencyReference={"localEducationAgencyId": 5})

    assert (found.organization, found.hierarchy) == (7, [7, 5])


def test_an_organization_may_have_several_parents(securables):
    found = securables(
        "LocalEducationAgency",
        localEducationAgencyId=5,
        stateEducationAgencyReference={"stateEducationAgencyId": 1},
        educationServiceCenterReference={"educationServiceCenterId": 3},
        parentLocalEducationAgencyReference={"localEducationAgencyId": 5},
    )

    assert found.hierarchy == [5, 3, 1]


def test_elements_that_are_always_equal_are_one_value(resource_named):
    group, student = groups(resource_named("StudentSchoolAttendanceEvent"))

    assert {str(element.path) for element in group} == {"$.schoolReference.schoolId", "$.sessionReference.schoolId"}
    assert {element.name for element in (*group, *student)} == {"SchoolId", "StudentUniqueId"}


def test_no_resource_of_a_bundled_standard_has_two_values_of_one_kind(surface):
    for resource in surface.resources:
        kinds = [group[0].kind for group in groups(resource)]
        assert len(kinds) == len(set(kinds)), resource.name


def test_elements_within_arrays_are_ignored(surface):
    paths = [element.path for resource in surface.resources for group in groups(resource) for element in group]

    assert not any(ALL_ITEMS in path.steps for path in paths)


@pytest.mark.parametrize("id_", [2**63, -(2**63) - 1, "7"])
def test_an_id_out_of_range_is_not_securable(resource_named, id_):
    assert SecurablesExtractor(resource_named("School")).securables({"schoolId": id_}) == NOTHING


@pytest.fixture
def stored(resource_named):
    def find(name):
        return Document.objects.values_list(*Securables._fields).get(resource_type__name=name)

    return find


def test_a_key_change_updates_securables(api, documents, resource_named, stored):
    documents.store(resource_named("StudentSchoolAssociation"))
    assert api.post("/schools", documents.minimal_body(resource_named("School"), schoolId=7)).status_code == 201
    association = api.get("/studentSchoolAssociations").json()[0]

    path = f"/studentSchoolAssociations/{association['id']}"
    assert api.put(path, association | {"schoolReference": {"schoolId": 7}}).status_code == 204

    assert stored("StudentSchoolAssociation")[0] == 7


def test_a_changed_parent_updates_securables(api, documents, resource_named, stored):
    school = resource_named("School")
    documents.store(resource_named("LocalEducationAgency"))
    district = documents.minimal_body(resource_named("LocalEducationAgency"))["localEducationAgencyId"]
    body = documents.minimal_body(school)
    documents.store_targets(school, body)
    api.post("/schools", body)
    assert stored("School")[5] == [body["schoolId"]]

    api.post("/schools", body | {"localEducationAgencyReference": {"localEducationAgencyId": district}})

    assert stored("School")[5] == [body["schoolId"], district]

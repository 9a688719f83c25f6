"""The closure of the hierarchy of education organizations is updated in the transaction that writes their documents."""

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.core.storage import store
from edfi_api.core.storage.write_requests import DeleteRequest, WriteRequest
from edfi_api.features.loading.bulk import Candidate, bulk_writer, write_documents
from tests.conftest import item_path
from tests.core.documents.organizations import Organizations, closure_of, stored_closure
from tests.support.factories import STORED_URIS


@pytest.fixture
def organizations(api, documents, resource_named):
    found = Organizations(documents, resource_named("LocalEducationAgency"), resource_named("School"))
    found.store_descriptors()
    return found


@pytest.fixture
def tree(api, organizations):
    """District 2 in district 1, school 7 in district 2; returns their paths."""
    bodies = [organizations.district(1), organizations.district(2, 1), organizations.school(7, 2)]
    endpoints = ["/localEducationAgencies", "/localEducationAgencies", "/schools"]
    answers = [api.post(endpoint, body) for endpoint, body in zip(endpoints, bodies, strict=True)]
    return [item_path(answer) for answer in answers]


def test_an_organization_is_below_itself_and_all_its_ancestors(tree):
    assert stored_closure() == closure_of({1: [], 2: [1], 7: [2]})


def test_descendants_of_a_moved_organization_are_updated(api, organizations, tree):
    api.post("/localEducationAgencies", organizations.district(3))

    assert api.post("/localEducationAgencies", organizations.district(2, 3)).status_code == 200

    assert stored_closure() == closure_of({1: [], 2: [3], 3: [], 7: [2]})


def test_a_removed_parent_is_removed_from_the_closure(api, organizations, tree):
    api.post("/localEducationAgencies", organizations.district(2))

    assert stored_closure() == closure_of({1: [], 2: [], 7: [2]})


def test_a_deleted_organization_leaves_the_closure(api, tree):
    assert api.delete(tree[2]).status_code == 204

    assert stored_closure() == closure_of({1: [], 2: [1]})


def test_an_unrelated_change_writes_no_row_of_the_closure(api, organizations, tree):
    before = stored_closure()

    assert api.post("/schools", organizations.school(7, 2) | {"nameOfInstitution": "Other"}).status_code == 200

    assert stored_closure() == before


def test_each_member_of_a_cycle_is_below_all_others(api, organizations, tree):
    api.post("/localEducationAgencies", organizations.district(1, 2))

    assert stored_closure() == closure_of({1: [2], 2: [1], 7: [2]})


def test_a_department_may_be_below_any_kind_of_organization(api, documents, organizations, tree, resource_named):
    department = resource_named("OrganizationDepartment")
    body = documents.minimal_body(
        department, organizationDepartmentId=9, parentEducationOrganizationReference={"educationOrganizationId": 7}
    )
    documents.store_targets(department, documents.minimal_body(department))

    assert api.post("/organizationDepartments", body).status_code == 201

    assert stored_closure() >= closure_of({1: [], 2: [1], 7: [2], 9: [7]})


def test_bulk_loads_update_the_closure(organizations):
    candidates = [
        Candidate.of(organizations.district_resource, organizations.district(1), "1"),
        Candidate.of(organizations.school_resource, organizations.school(7, 1), "7"),
        Candidate.of(organizations.school_resource, organizations.school(8, 1), "8"),
    ]

    assert [written.result for written in write_documents(candidates)] == ["inserted"] * 3

    assert stored_closure() == closure_of({1: [], 7: [1], 8: [1]})


def test_a_load_in_any_order_within_one_transaction_updates_the_closure(organizations):
    district = organizations.district_resource
    bodies = [organizations.district(1, 2), organizations.district(2, 3), organizations.district(3)]

    with bulk_writer() as writer:
        results = list(writer.write_together(Candidate.of(district, body, "") for body in bodies))

    assert [written.result for written in results] == ["inserted"] * 3
    assert stored_closure() == closure_of({1: [2], 2: [3], 3: []})


IDS = range(1, 6)
CHANGES = st.lists(st.tuples(st.sampled_from(IDS), st.none() | st.sampled_from(IDS), st.booleans()), max_size=15)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHANGES)
def test_the_closure_is_correct_after_any_sequence_of_changes(organizations, validators, changes):
    district = organizations.district_resource
    with transaction.atomic():
        paths, parents = {}, {}
        for id_, parent, is_removal in changes:
            if (
                is_removal
                and id_ in paths
                and not any(id_ in above for other, above in parents.items() if other != id_)
            ):
                assert store.delete(DeleteRequest(district, paths.pop(id_), using="default"))
                del parents[id_]
            elif parent is None or parent in paths or parent == id_:
                incoming = validators[district.name].validate(organizations.district(id_, parent), STORED_URIS)
                paths[id_] = store.upsert(WriteRequest(incoming, using="default")).document_uuid
                parents[id_] = [parent] if parent else []

        assert stored_closure() == closure_of(parents)
        transaction.set_rollback(True)

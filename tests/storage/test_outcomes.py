"""The outcome that a statement returns for each possible result of a write."""

from uuid import UUID

import pytest

from edfi_api.documents.incoming import Preparer
from edfi_api.storage import policy_statements
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.requests import DeleteRequest, WriteRequest
from tests.factories import STORED_URIS

ID = UUID("01900000-0000-7000-8000-000000000001")
OTHER_ID = UUID("01900000-0000-7000-8000-000000000002")

pytestmark = pytest.mark.django_db


@pytest.fixture
def course(documents, resource_named):
    resource = resource_named("Course")
    documents.store_targets(resource, documents.minimal_body(resource))
    return resource


@pytest.fixture
def request_for(course, documents):
    def make(**changes):
        return WriteRequest(
            Preparer(course).prepare(documents.minimal_body(course, **changes), STORED_URIS), using="default"
        )

    return make


def upsert(request, expected_version=None, document_uuid=ID):
    values = request.values(document_uuid) | {"expected_version": expected_version}
    return execute(policy_statements.upsert(None).with_values(**values), "default")


def update(request, expected_version=None, document_uuid=ID):
    values = request.values(document_uuid) | {"expected_version": expected_version}
    return execute(policy_statements.update(None).with_values(**values), "default")


def delete(resource, expected_version=None):
    values = DeleteRequest(resource, ID, using="default").values() | {"expected_version": expected_version}
    return execute(policy_statements.delete(None).with_values(**values), "default")


def outcomes(rows):
    return [outcome for outcome, *_ in rows]


def test_an_upsert_inserts_then_changes_nothing_then_updates(request_for):
    first = upsert(request_for())
    again = upsert(request_for(), document_uuid=OTHER_ID)
    changed = upsert(request_for(courseTitle="Other"), document_uuid=OTHER_ID)

    assert [(outcome, id_) for outcome, id_, _ in (*first, *again, *changed)] == [
        ("inserted", str(ID)),
        ("unchanged", str(ID)),
        ("updated", str(ID)),
    ]
    assert again == [("unchanged", str(ID), first[0][2])]
    assert changed[0][2] > first[0][2]


def test_an_upsert_that_expects_another_version_is_stale(request_for):
    [(_, _, version)] = upsert(request_for())

    assert outcomes(upsert(request_for(courseTitle="Other"), version + 1000)) == ["stale"]
    assert outcomes(upsert(request_for(), version + 1000)) == ["stale"]
    assert outcomes(upsert(request_for(courseTitle="Other"), 0)) == ["stale"]
    assert outcomes(upsert(request_for(courseTitle="Other"), version)) == ["updated"]


def test_an_upsert_that_expects_a_version_without_a_document_is_stale(request_for):
    assert upsert(request_for(), 7) == [("stale", None, None)]


def test_an_upsert_without_a_target_writes_nothing(request_for):
    gone = {"educationOrganizationId": 999_999}

    assert upsert(request_for(educationOrganizationReference=gone)) == [("missing target", None, None)]


def test_outcomes_of_updates(request_for):
    assert update(request_for()) == []

    [(_, _, version)] = upsert(request_for())

    assert outcomes(update(request_for())) == ["unchanged"]
    assert outcomes(update(request_for(courseTitle="Other"), version + 1000)) == ["stale"]
    assert outcomes(update(request_for(courseCode="Other"))) == ["other identity"]
    assert outcomes(update(request_for(courseTitle="Other"), version)) == ["updated"]


def test_outcomes_of_deletes(request_for, course):
    assert delete(course) == []

    [(_, _, version)] = upsert(request_for())

    assert delete(course, version + 1000) == [("stale", str(ID), version)]
    assert delete(course, version) == [("deleted", str(ID), version)]

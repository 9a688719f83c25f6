"""The outcome that a statement returns for each possible result of a write."""

from uuid import UUID

import pytest
from django.db import connection

from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.storage import policy_statements
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.stored import Outcome
from edfi_api.core.storage.write_requests import DeleteRequest, WriteRequest
from tests.support.factories import STORED_URIS

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
            DocumentValidator(course).validate(documents.minimal_body(course, **changes), STORED_URIS), using="default"
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


def likely_upsert(outcome, request, document_uuid=OTHER_ID):
    statement = policy_statements.likely_upsert(outcome, None, has_links=bool(request.document.linked))
    return execute(statement.with_values(**request.values(document_uuid)), "default")


def test_a_likely_upsert_returns_its_own_outcome(request_for):
    [(_, _, first)] = likely_upsert(Outcome.INSERTED, request_for(), document_uuid=ID)
    [(_, _, second)] = likely_upsert(Outcome.UPDATED, request_for(courseTitle="Other"))

    assert second > first
    assert likely_upsert(Outcome.UNCHANGED, request_for(courseTitle="Other")) == [("unchanged", str(ID), second)]
    assert upsert(request_for(courseTitle="Other")) == [("unchanged", str(ID), second)]


def likely_update(outcome, request, document_uuid=ID):
    statement = policy_statements.likely_update(outcome, None, has_links=bool(request.document.linked))
    return execute(statement.with_values(**request.values(document_uuid)), "default")


def test_a_likely_update_is_of_the_document_with_the_id(request_for):
    [(_, _, first)] = upsert(request_for())
    other = request_for(courseTitle="Other")

    assert (
        likely_update(Outcome.UPDATED, other, OTHER_ID)
        == likely_update(Outcome.UNCHANGED, request_for(), OTHER_ID)
        == []
    )
    assert likely_update(Outcome.UPDATED, request_for(courseTitle="Other", courseCode="Other")) == []
    assert likely_update(Outcome.UNCHANGED, request_for()) == [("unchanged", str(ID), first)]
    [(_, _, second)] = likely_update(Outcome.UPDATED, other)
    assert second > first
    assert likely_update(Outcome.UPDATED, other) == []
    assert outcomes(update(other)) == ["unchanged"]


def test_a_likely_upsert_does_nothing_if_the_outcome_is_another(request_for):
    new, gone = request_for(), request_for(educationOrganizationReference={"educationOrganizationId": 999_999})

    assert likely_upsert(Outcome.UPDATED, new) == likely_upsert(Outcome.UNCHANGED, new) == []
    assert likely_upsert(Outcome.INSERTED, gone) == []

    upsert(new)

    assert likely_upsert(Outcome.INSERTED, request_for(courseTitle="Other")) == []
    assert likely_upsert(Outcome.UPDATED, new) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE document SET organization = 7 WHERE document_uuid = %s",
        "DELETE FROM reference r USING document d WHERE d.id = r.document_id AND d.document_uuid = %s",
    ],
    ids=["columns of authorization", "references"],
)
def test_a_likely_update_leaves_changes_outside_of_the_body_to_the_upsert(request_for, change):
    upsert(request_for())
    with connection.cursor() as cursor:
        cursor.execute(change, [ID])

    assert likely_upsert(Outcome.UPDATED, request_for(courseTitle="Other")) == []
    assert outcomes(upsert(request_for(courseTitle="Other"))) == ["updated"]
    assert outcomes(likely_upsert(Outcome.UPDATED, request_for(courseTitle="Third"))) == ["updated"]

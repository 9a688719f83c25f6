"""A profiled write that is wrong in several ways is answered by the first of: negotiation, the body, the filter, the
id, equal values, duplicates, the claim set, existence, authorization of the stored document, conditions, what the
profile prevents, descriptors, the identity, authorization of the new values, references."""

from typing import Any

import pytest

from edfi_api.core.models import Document
from tests.conftest import ApiTestClient, item_path

# An association with a student's school, and what a profile that hides `calendarReference` makes of it.
CALENDAR = {"calendarCode": "Value", "schoolId": 1008, "schoolYear": 2026}
HIDES_CALENDAR = 'ExcludeOnly:<Property name="calendarReference"/>'


@pytest.fixture
def association(api, documents, resource_named) -> dict[str, Any]:
    """The stored body of an association."""
    resource = resource_named("StudentSchoolAssociation")
    body = documents.minimal_body(resource) | {
        "calendarReference": CALENDAR,
        "schoolYearTypeReference": {"schoolYear": 2026},
    }
    documents.store_targets(resource, body)
    return body


@pytest.fixture
def path(api, association) -> str:
    return item_path(api.post("/studentSchoolAssociations", association))


@pytest.fixture
def contradicting(association, path) -> dict[str, Any]:
    """A body that contradicts the hidden reference to a calendar."""
    return association | {"schoolYearTypeReference": {"schoolYear": 2027}, "id": path.rsplit("/", 1)[1]}


def kind(response) -> tuple[int, str]:
    return response.status_code, response.json()["type"].removeprefix("urn:ed-fi:api:")


def strangers(narrow) -> ApiTestClient:
    """A client of another school."""
    return narrow(
        "StudentSchoolAssociation", HIDES_CALENDAR, claim_set_name="SISVendor", education_organization_ids=[1]
    )


def insiders(narrow) -> ApiTestClient:
    return narrow(
        "StudentSchoolAssociation", HIDES_CALENDAR, claim_set_name="SISVendor", education_organization_ids=[1008]
    )


def test_the_stored_document_is_authorized_before_anything_is_merged(narrow, path, contradicting) -> None:
    client = strangers(narrow)
    without_id = {name: value for name, value in contradicting.items() if name != "id"}

    for response in (
        client.put(path, contradicting),
        client.put(path, contradicting, HTTP_IF_MATCH='"0-l"'),
        client.post("/studentSchoolAssociations", without_id),
    ):
        assert kind(response) == (403, "security:authorization")


def test_a_failed_condition_precedes_the_merge_unless_new_values_are_authorized(narrow, path, contradicting) -> None:
    everyone = narrow("StudentSchoolAssociation", HIDES_CALENDAR)

    assert kind(everyone.put(path, contradicting, HTTP_IF_MATCH='"0-l"')) == (412, "optimistic-lock-failed")
    assert kind(insiders(narrow).put(path, contradicting, HTTP_IF_MATCH='"0-l"')) == (400, "data-policy-enforced")


def test_what_the_profile_prevents_precedes_descriptors_and_references(narrow, path, contradicting) -> None:
    client = insiders(narrow)
    unknown = {
        "entryGradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Unknown",
        "classOfSchoolYearTypeReference": {"schoolYear": 1999},
    }

    assert kind(client.put(path, contradicting | unknown)) == (400, "data-policy-enforced")
    in_agreement = contradicting | unknown | {"schoolYearTypeReference": {"schoolYear": 2026}}
    assert kind(client.put(path, in_agreement)) == (400, "bad-request")


def test_the_body_precedes_what_is_stored(narrow, path, contradicting) -> None:
    client = strangers(narrow)

    for wrong, expected in (
        ({"entryDate": "never"}, "bad-request:data-validation-failed"),
        ({"id": "00000000-0000-4000-8000-000000000000"}, "bad-request"),
    ):
        assert kind(client.put(path, contradicting | wrong)) == (400, expected)


def test_negotiation_precedes_the_id_and_the_body(narrow, path) -> None:
    client = narrow("StudentSchoolAssociation", HIDES_CALENDAR)
    other = "application/vnd.ed-fi.studentSchoolAssociation.Nothing.writable+json"

    assert kind(client.post("/studentSchoolAssociations", {"id": "x"}, content_type=other)) == (
        415,
        "profile:invalid-profile-usage",
    )
    assert kind(client.post("/studentSchoolAssociations", '{"a": 1, "a": 2}', content_type=other))[0] == 400
    assert Document.objects.filter(resource_type__name="StudentSchoolAssociation").count() == 1

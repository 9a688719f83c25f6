"""PUT with other key values: the document keeps its id, and the change cascades to its referrers."""

import json
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.models import Document
from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from references.models import Alias, Reference
from tests.conftest import ApiTestClient, item_path, new_token
from tests.support.factories import STORED_URIS

CHAIN = ["Session", "CourseOffering", "Section", "StudentSectionAssociation", "Grade"]


@pytest.fixture
def chain(api, documents, resource_named):
    """A document of each resource of the chain, each referring to the previous ones."""
    documents.store(resource_named("Grade"))
    return {name: Document.objects.get(resource_type__name=name) for name in CHAIN}


def put_key(api, document, endpoint, **changes):
    path = f"/{endpoint}/{document.document_uuid}"
    return api.put(path, api.get(path).json() | changes)


def test_a_renamed_session_cascades_through_the_whole_chain(api, chain):
    response = put_key(api, chain["Session"], "sessions", sessionName="Autumn")

    assert response.status_code == 204, response.content
    bodies = {name: Document.objects.get(pk=document.pk).body for name, document in chain.items()}
    assert bodies["Session"]["sessionName"] == "Autumn"
    assert bodies["CourseOffering"]["sessionReference"]["sessionName"] == "Autumn"
    assert bodies["Section"]["courseOfferingReference"]["sessionName"] == "Autumn"
    assert bodies["StudentSectionAssociation"]["sectionReference"]["sessionName"] == "Autumn"
    assert bodies["Grade"]["studentSectionAssociationReference"]["sessionName"] == "Autumn"


def test_every_cascaded_referrer_has_a_new_version_and_natural_key_but_its_old_id(api, chain):
    put_key(api, chain["Session"], "sessions", sessionName="Autumn")

    for before in chain.values():
        after = Document.objects.get(pk=before.pk)
        assert after.document_uuid == before.document_uuid
        assert after.change_version > before.change_version
        assert "Autumn" in after.natural_key


def test_other_documents_are_unchanged(api, chain):
    before = dict(Document.objects.exclude(resource_type__name__in=CHAIN).values_list("pk", "change_version"))

    put_key(api, chain["Session"], "sessions", sessionName="Autumn")

    assert dict(Document.objects.exclude(resource_type__name__in=CHAIN).values_list("pk", "change_version")) == before


def test_the_old_identity_becomes_available_and_the_new_one_is_used(api, chain):
    body = chain["Session"].body
    put_key(api, chain["Session"], "sessions", sessionName="Autumn")

    assert api.post("/sessions", body).status_code == 201
    assert api.post("/sessions", body | {"sessionName": "Autumn"}).status_code == 200


def test_a_reference_in_a_collection_is_updated(api, chain, documents, resource_named):
    section = chain["Section"]
    class_period = resource_named("ClassPeriod")
    documents.store(class_period)
    reference = {"classPeriodName": "Value", "schoolId": section.body["courseOfferingReference"]["schoolId"]}
    changed = section.body | {"classPeriods": [{"classPeriodReference": reference}]}
    assert api.post("/sections", changed).status_code == 200

    response = put_key(
        api, Document.objects.get(resource_type__name="ClassPeriod"), "classPeriods", classPeriodName="P1"
    )

    assert response.status_code == 204, response.content
    body = Document.objects.get(pk=section.pk).body
    assert body["classPeriods"] == [{"classPeriodReference": reference | {"classPeriodName": "P1"}}]


def test_an_identity_of_another_document_is_a_conflict(api, chain):
    other = chain["Session"].body | {"sessionName": "Autumn"}
    assert api.post("/sessions", other).status_code == 201
    before = list(Document.objects.order_by("pk").values())

    response = put_key(api, chain["Session"], "sessions", sessionName="Autumn")

    assert response.status_code == 409
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:identity-conflict"
    assert problem["errors"][0].startswith(
        "A natural key conflict occurred when attempting to update a resource Session with a duplicate key."
    )
    assert list(Document.objects.order_by("pk").values()) == before


def test_a_new_identity_that_does_not_resolve_is_an_unresolved_reference(api, chain):
    api.post("/sessions", chain["Session"].body | {"sessionName": "Without followers"})
    session = Document.objects.get(body__sessionName="Without followers")

    response = put_key(api, session, "sessions", schoolReference={"schoolId": 5})

    assert response.status_code == 409
    assert response.json()["validationErrors"] == {"$.schoolReference": ["The referenced School item does not exist."]}
    assert Document.objects.get(pk=session.pk).body == session.body


def test_a_change_that_a_referrer_contradicts_is_refused(api, chain, documents, resource_named):
    school = documents.minimal_body(resource_named("School"), schoolId=5)
    assert api.post("/schools", school).status_code == 201

    response = put_key(api, chain["Session"], "sessions", schoolReference={"schoolId": 5})

    assert response.status_code == 400
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:bad-request:data-validation-failed"
    assert problem["errors"][0].startswith("CourseOffering NK#")
    assert Document.objects.get(pk=chain["Session"].pk).body == chain["Session"].body


def test_the_key_of_an_unreadable_contradicting_document_is_not_disclosed(api, chain, documents, resource_named):
    grant = {
        "claims": ["ed-fi/session"],
        "actions": ["Read", "Update"],
        "strategies": ["NoFurtherAuthorizationRequired"],
    }
    load(read_claims(json.dumps({"claimSets": [{"name": "Sessions", "grants": [grant]}]}).encode()), by="tests")
    assert api.post("/schools", documents.minimal_body(resource_named("School"), schoolId=5)).status_code == 201
    client = ApiTestClient(new_token("sessions", "Sessions"))

    response = put_key(client, chain["Session"], "sessions", schoolReference={"schoolId": 5})

    assert response.status_code == 400
    assert response.json()["errors"] == ["The client may not read what would contradict itself."]


def test_an_identity_update_of_a_missing_document_is_not_found(api, chain):
    body = chain["Session"].body | {"id": str(uuid4())}

    assert api.put(f"/sessions/{body['id']}", body).status_code == 404


_keys = st.sampled_from(
    [("Session", "sessions", "sessionName"), ("Section", "sections", "sectionIdentifier")],
)
_changes = st.lists(st.tuples(_keys, st.sampled_from(["Value", "A", "B", "C"])), min_size=1, max_size=4)


@pytest.mark.django_db
@given(changes=_changes)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_cascade_equals_a_rebuild_from_the_bodies(api, chain, surface, changes):
    """After any changes the stored rows equal those that result from posting the stored bodies again."""
    for (resource, endpoint, member), name in changes:
        assert put_key(api, chain[resource], endpoint, **{member: name}).status_code == 204

    validators = DocumentValidators(surface)
    for document in Document.objects.select_related("resource_type"):
        name = next(n for n in surface.by_name if n.resource == document.resource_type.name)
        rebuilt = validators[name].validate(document.body, STORED_URIS)
        assert json.loads(rebuilt.text) == document.body
        assert rebuilt.identity.natural_key == document.natural_key
        assert set(document.aliases.values_list("pk", flat=True)) == set(rebuilt.identity.aliases)
        stored = Reference.objects.filter(document=document).values_list("alias_id", flat=True)
        assert set(stored) == set(rebuilt.targets)
    assert not Reference.objects.exclude(alias_id__in=Alias.objects.values("pk")).exists()


def test_a_second_document_with_the_same_targets_is_updated(api, chain, documents, resource_named):
    other = chain["Section"].body | {"sectionIdentifier": "other"}
    path = item_path(api.post("/sections", other))

    put_key(api, chain["Session"], "sessions", sessionName="Autumn")

    assert api.get(path).json()["courseOfferingReference"]["sessionName"] == "Autumn"

"""The bundled claim sets: the actions that they grant, as answers of the API, for all bundled standards."""

from contextlib import suppress
from typing import Any

import pytest
from django.http import HttpResponse

from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.claims.compile import all_defaults
from edfi_api.core.security.claims.file import bundled_claims
from edfi_api.core.security.claims.model import ClaimNames
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.security.exceptions import ActionAccessDenied, ResourceAccessDenied
from edfi_api.core.security.models import ClaimSet, DefaultStrategies
from edfi_api.core.security.requests.authentication import client_of_token
from edfi_api.core.security.requests.authorization import row_policy
from edfi_api.model.surface.resource import Resource
from tests.conftest import ApiTestClient, new_token
from tests.core.security.published_claims import in_effect, published_claims
from tests.core.security.strategies.scenario import Scenario
from tests.support.factories import DocumentFactory
from tests.support.serving import LAKE_COUNTY, OTHERS_MARKED, Served, served

pytestmark = pytest.mark.django_db
NOWHERE = "00000000-0000-4000-8000-000000000000"
CLAIM_SETS = (
    "AssessmentVendor",
    "BootstrapDescriptorsandEdOrgs",
    "EdFiAPIPublisherReader",
    "EdFiAPIPublisherWriter",
    "EdFiSandbox",
    "EdFiSandboxDefaults",
    "FullAccess",
    "OwnershipBased",
    "RosterVendor",
    "SISVendor",
)
# The actions Create, Read, Update, Delete and ReadChanges (X) that a claim set grants on a resource.
ACTIONS_BY_CODE = {
    "C": Action.CREATE,
    "R": Action.READ,
    "U": Action.UPDATE,
    "D": Action.DELETE,
    "X": Action.READ_CHANGES,
}
MATRIX = """
                              SchoolYearType GradeLevelDescriptor PerformanceLevelDescriptor School Student Section Assessment LearningStandard StudentSchoolAssociation
AssessmentVendor              R              R                    CRUD                       -      R       R       CRUD       CRUD             -
BootstrapDescriptorsandEdOrgs C              C                    C                          C      -       -       -          C                -
EdFiAPIPublisherReader        RX             RX                   RX                         RX     RX      RX      RX         RX               RX
EdFiAPIPublisherWriter        CRUD           CRUD                 CRUD                       CRUD   CRUD    CRUD    CRUD       CRUD             CRUD
EdFiSandbox                   CRUDX          CRUDX                CRUDX                      CRUDX  CRUDX   CRUDX   CRUDX      CRUDX            CRUDX
EdFiSandboxDefaults           RX             CRUDX                CRUDX                      CRUDX  CRUDX   CRUDX   CRUDX      CRUDX            CRUDX
FullAccess                    CRUDX          CRUDX                CRUDX                      CRUDX  CRUDX   CRUDX   CRUDX      CRUDX            CRUDX
OwnershipBased                CRUD           CRUD                 CRUD                       CRUD   CRUD    CRUD    CRUD       CRUD             CRUD
RosterVendor                  -              -                    -                          R      R       R       -          -                R
SISVendor                     R              R                    CRUD                       R      CRUD    CRUD    CRUD       CRUD             CRUD
"""  # noqa: E501  A table.


def cells() -> list[tuple[str, str, str]]:
    heading, *rows = MATRIX.strip("\n").splitlines()
    return [
        (claim_set, resource, "" if codes == "-" else codes)
        for claim_set, *of_claim_set in map(str.split, rows)
        for resource, codes in zip(heading.split(), of_claim_set, strict=True)
    ]


def responses(api: ApiTestClient, action: Action, resource: Resource, body: dict[str, Any]) -> list[HttpResponse]:
    """The answers to all requests that need the action."""
    path = f"/{resource.endpoint}"
    match action:
        case Action.CREATE:
            return [api.post(path, body)]
        case Action.READ:
            return [api.get(path), api.get(f"{path}/partitions"), api.get(f"{path}/{NOWHERE}")]
        case Action.UPDATE:
            return [api.put(f"{path}/{NOWHERE}", body | {"id": NOWHERE})]
        case Action.DELETE:
            return [api.delete(f"{path}/{NOWHERE}")]
        case Action.READ_CHANGES:
            return [api.get(f"{path}/deletes"), api.get(f"{path}/keyChanges")]
    raise AssertionError(action)


@pytest.mark.parametrize(("claim_set", "resource_name", "codes"), cells())
def test_actions_granted_by_claim_set(
    claim_set: str, resource_name: str, codes: str, documents: DocumentFactory, resource_named: Any
) -> None:
    resource = resource_named(resource_name)
    claims = {"education_organization_ids": [1001], "namespace_prefixes": ["uri://ed-fi.org"]}
    api = ApiTestClient(new_token("matrix", claim_set, **claims))
    body = documents.minimal_body(resource)

    for code, action in ACTIONS_BY_CODE.items():
        for response in responses(api, action, resource, body):
            if code in codes:
                assert not is_denied(response), (action, response.content)
            else:
                assert response.status_code == 403
                assert problem(response) == denial(claim_set, resource_name, action if codes else None)


def is_denied(response: HttpResponse) -> bool:
    """Whether the claim set denies the action; otherwise the request may still be refused for a document."""
    return response.status_code >= 500 or "access-denied:action" in response.content.decode()


def problem(response: HttpResponse) -> dict[str, Any]:
    return {name: value for name, value in response.json().items() if name not in {"correlationId", "hints"}}


def denial(claim_set: str, resource_name: str, action: Action | None) -> dict[str, Any]:
    errors = [
        f"The API client's assigned claim set (currently '{claim_set}') must grant permission of the '{action}' action "
        f"on one of the following resource claims: {resource_name}"
    ]
    return {
        "detail": "Access to the resource could not be authorized.",
        "type": f"urn:ed-fi:api:security:authorization:access-denied:{'action' if action else 'resource'}",
        "title": "Authorization Denied",
        "status": 403,
        "validationErrors": {},
        "errors": errors if action else [],
    }


@pytest.fixture(params=[*OTHERS_MARKED, "5.2 with an extension"])
def standard_served(request: pytest.FixtureRequest) -> Served:
    return served("5.2", LAKE_COUNTY) if "extension" in request.param else served(request.param)


def test_no_bundled_claim_set_causes_a_configuration_error(standard_served: Served) -> None:
    """Every grant has strategies that exist and apply to the resource."""
    load(bundled_claims(standard_served.surface), by="tests")
    with standard_served.instead():
        for claim_set in ClaimSet.objects.all():
            client = client_of_token(new_token(claim_set.name, claim_set.name, namespace_prefixes=["uri://ed-fi.org"]))
            for resource in standard_served.surface.resources:
                for action in Action:
                    with suppress(ActionAccessDenied, ResourceAccessDenied):
                        row_policy(client, resource, action, standard_served.surface, "default")


def test_the_list_of_claim_sets_is_complete() -> None:
    assert tuple(ClaimSet.objects.values_list("name", flat=True)) == CLAIM_SETS


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("post", "/surveys", "{", 400),  # the body is checked before the claim set
        ("post", "/surveys", "{}", 400),
        ("put", f"/surveys/{NOWHERE}", "{}", 400),
        ("get", "/surveys?limit=-1", None, 400),
        ("get", "/surveys?colour=red", None, 400),
        ("get", "/surveys/partitions?number=0", None, 400),
        ("get", "/surveys/deletes?limit=-1", None, 400),
        ("get", "/surveys/nonsense", None, 400),
        ("delete", "/surveys/nonsense", None, 400),
        ("delete", "/surveys", None, 405),
        ("get", "/unknowns", None, 404),
        ("get", "/surveys", None, 403),  # the claim set is checked before the stored document
        ("get", f"/surveys/{NOWHERE}", None, 403),
        ("delete", f"/surveys/{NOWHERE}", None, 403),
    ],
)
def test_the_order_of_checks(method: str, path: str, body: str | None, status: int) -> None:
    api = ApiTestClient(new_token("Roster", "RosterVendor"))

    assert api.request(method, path, body).status_code == status


def test_a_configuration_error_is_reported_without_details() -> None:
    DefaultStrategies.objects.filter(resource_claim__name="domains/educationOrganizations").delete()
    api = ApiTestClient(new_token("Roster", "RosterVendor"))

    response = api.get("/schools")

    assert response.status_code == 500
    assert problem(response) == {
        "detail": "A security configuration problem was detected. The request cannot be authorized.",
        "type": "urn:ed-fi:api:system:configuration:security",
        "title": "Security Configuration Error",
        "status": 500,
        "validationErrors": {},
        "errors": [
            "No authorization strategies were defined for the requested action 'Read' against resource URIs "
            "['http://ed-fi.org/identity/claims/ed-fi/school'] matched by the caller's claim "
            "'http://ed-fi.org/identity/claims/domains/educationOrganizations'."
        ],
    }


# Why is in meadowlark/docs/design/authorization.md#bundled-default-strategies.
DEVIATIONS = {
    "ReadChanges of domains/edFiTypes": ("NoFurtherAuthorizationRequired",),
    "ReadChanges of schoolYearType": ("NoFurtherAuthorizationRequired",),
    "ReadChanges of chartOfAccount": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
    "ReadChanges of domains/finance/locals": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
    "ReadChanges of localAccount": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
    "ReadChanges of localActual": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
    "ReadChanges of localBudget": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
    "ReadChanges of localContractedStaff": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
    "ReadChanges of localEncumbrance": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
    "ReadChanges of localPayroll": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
    "ReadChanges of studentHealth": ("RelationshipsWithEdOrgsAndPeopleIncludingDeletes",),
}


def test_default_strategies_are_the_published_ones_but_for_the_documented_deviations() -> None:
    of_52 = served("5.2").surface
    load(bundled_claims(of_52), by="tests")
    names, defaults = ClaimNames(of_52), all_defaults()

    differing = {
        f"{action} of {published}": defaults[name][action]
        for published in published_claims()
        if (name := names.one_of(published)) in defaults
        for action in Action.values
        if defaults[name][action] != in_effect(published).get(action, ())
    }

    assert sum(names.one_of(published) in defaults for published in published_claims()) == 363
    assert differing == DEVIATIONS


def test_a_school_reads_what_its_district_offers_and_does_not_change_it(api, documents) -> None:
    scenario = Scenario(api, documents)
    scenario.district(1)
    scenario.district(2)
    scenario.school(11, 1)
    own, other = (
        [
            scenario.post(name, educationOrganizationReference={"educationOrganizationId": district})
            for name in ("Course", "Program", "ChartOfAccount")
        ]
        for district in (1, 2)
    )
    school = ApiTestClient(new_token("school", "EdFiSandboxDefaults", education_organization_ids=[11]))

    assert [school.get(path).status_code for path in own] == [200, 200, 200]
    assert [school.get(path).status_code for path in other] == [403, 403, 403]
    assert [len(school.get(f"/{name}").json()) for name in ("courses", "programs", "chartOfAccounts")] == [1, 1, 1]
    assert [school.delete(path).status_code for path in own] == [403, 403, 403]

"""On a server with tenants, what another tenant has is answered as what does not exist, at every address."""

from typing import Any

import pytest

from edfi_api.core.data_stores.stores import create_tenant
from edfi_api.core.security.models import ClaimSet, ResourceClaim
from edfi_api.features.management_api.urls import all_addresses
from tests.features.management_api.managing import APPLICATION, VENDOR, Managing, created_id

ONE, TWO = {"HTTP_TENANT": "One"}, {"HTTP_TENANT": "Two"}
NOTHING = 99_999
PROFILE = (
    "<Profile name='Names'><Resource name='Student'><ReadContentType memberSelection='IncludeOnly'>"
    "<Property name='firstName'/></ReadContentType></Resource></Profile>"
)
# What tenants do not own.
SHARED = ("tenants", "resourceClaims", "resourceClaimActions", "actions", "authorizationStrategies", "management")
CONNECTION = {"name": "lakeside", "direction": "pull", "address": "https://api.example.org/", "key": "key"}


@pytest.fixture
def owned(management: Managing, configured) -> dict[str, int]:
    """Collection → the id of what tenant One has."""
    configured(MULTI_TENANCY=True, MANAGEMENT_REQUESTS_PER_MINUTE=0)
    for name in ("One", "Two"):
        create_tenant(name)

    def made(path: str, **body: Any) -> int:
        return created_id(management.post(f"/v3/{path}", body, **ONE))

    vendor = made("vendors", **VENDOR)
    store = made("dataStores", dataStoreType="x", name="x", connectionString="main")
    profile = made("profiles", name="Names", definition=PROFILE)
    application = made("applications", **APPLICATION, vendorId=vendor, dataStoreIds=[store])
    [client] = management.get("/v3/apiClients", **ONE).json()
    context = made("dataStoreContexts", dataStoreId=store, contextKey="schoolYear", contextValue="2027")
    derivative = made("dataStoreDerivatives", dataStoreId=store, derivativeType="Snapshot")
    return {
        "vendors": vendor,
        "applications": application,
        "apiClients": client["id"],
        "apiclients": client["id"],
        "claimSets": made("claimSets", claimSetName="Mine"),
        "connections": made("connections", **CONNECTION, secret="x", apiClientId=client["id"]),
        "profiles": profile,
        "dataStores": store,
        "odsInstances": store,
        "dataStoreContexts": context,
        "odsInstanceContexts": context,
        "dataStoreDerivatives": derivative,
        "odsInstanceDerivatives": derivative,
    }


def bodies(number: int) -> dict[str, dict[str, Any]]:
    """A valid PUT of each collection, which refers to nothing that tenant One has."""
    context = {"contextKey": "a", "contextValue": "b"}
    application = {"applicationName": "a", "vendorId": 1, "claimSetName": "EdFiSandbox"}
    client = {"name": "a", "isApproved": True, "applicationId": 1}
    return {
        "/v3/vendors/{id}": VENDOR | {"id": number},
        "/v2/vendors/{id}": VENDOR,
        "/v3/applications/{id}": application | {"id": number},
        "/v2/applications/{id}": application | {"educationOrganizationIds": [1], "odsInstanceIds": [1]},
        "/v3/apiClients/{id}": client | {"id": number, "dataStoreIds": [1]},
        "/v2/apiclients/{id}": client | {"odsInstanceIds": [1]},
        "/v3/claimSets/{id}": {"id": number, "claimSetName": "Other"},
        "/v2/claimSets/{id}": {"name": "Other"},
        "/v3/profiles/{id}": {"id": number, "name": "Names", "definition": PROFILE},
        "/v3/connections/{id}": CONNECTION | {"id": number, "apiClientId": 1},
        "/v2/profiles/{id}": {"name": "Names", "definition": PROFILE},
        "/v3/dataStores/{id}": {"id": number, "dataStoreType": "x", "name": "y"},
        "/v3/dataStores/{id}/state": {"state": "offline"},
        "/v2/odsInstances/{id}": {"instanceType": "x", "name": "y"},
        "/v3/dataStoreContexts/{id}": context | {"id": number, "dataStoreId": 1},
        "/v2/odsInstanceContexts/{id}": context | {"odsInstanceId": 1},
        "/v3/dataStoreDerivatives/{id}": {"id": number, "dataStoreId": 1, "derivativeType": "Snapshot"},
        "/v2/odsInstanceDerivatives/{id}": {"odsInstanceId": 1, "derivativeType": "Snapshot"},
    }


def test_every_item_of_another_tenant_is_as_one_that_does_not_exist(
    management: Managing, owned: dict[str, int]
) -> None:
    claim = ResourceClaim.objects.get(name="domains/people").pk

    def answered(method: str, template: str, number: int) -> tuple[int, Any]:
        path = template.replace("{id}", str(number)).replace("{claim_id}", str(claim))
        body = None if method in ("get", "delete") else bodies(number).get(template, _of_a_part(template, claim))
        answer = management.request(method, path, body, **TWO)
        found = answer.json() if answer.content else {}
        found.pop("correlationId", None)
        texts = {name: found.pop(name, "").replace(str(number), "N") for name in ("detail", "title")}
        return answer.status_code, found | texts

    compared = {
        (method, address.template): (
            answered(method, address.template, owned[address.tag]),
            answered(method, address.template, NOTHING),
        )
        for address in all_addresses()
        if "{id}" in address.template and address.tag not in SHARED
        for method in address.actions
    }

    assert {place: pair for place, pair in compared.items() if pair[0] != pair[1]} == {}
    statuses = {place: pair[0][0] for place, pair in compared.items()}
    assert {place for place, status in statuses.items() if status != 404} == set()
    assert len(compared) > 60


def _of_a_part(template: str, claim: int) -> dict[str, Any]:
    """The body of what belongs to a claim set or an application."""
    actions = {"resourceClaimActions": [{"name": "Read", "enabled": True}]}
    if template.endswith("overrideAuthorizationStrategy"):
        return {"actionName": "Read", "authorizationStrategies": ["NamespaceBased"]}
    return actions | {"resourceClaimId": claim}


def test_no_reference_reaches_another_tenant(management: Managing, owned: dict[str, int]) -> None:
    vendor = created_id(management.post("/v3/vendors", VENDOR, **TWO))
    store = created_id(management.post("/v3/dataStores", {"dataStoreType": "x", "name": "x"}, **TWO))
    application = created_id(management.post("/v3/applications", APPLICATION | {"vendorId": vendor}, **TWO))
    body = APPLICATION | {"applicationName": "Other"}
    client = {"applicationId": application, "name": "x", "isApproved": True, "dataStoreIds": [store]}

    references = {
        "applications vendorId": body | {"vendorId": owned["vendors"]},
        "applications dataStoreIds": body | {"vendorId": vendor, "dataStoreIds": [owned["dataStores"]]},
        "applications profileIds": body | {"vendorId": vendor, "profileIds": [owned["profiles"]]},
        "apiClients applicationId": client | {"applicationId": owned["applications"]},
        "apiClients dataStoreIds": client | {"dataStoreIds": [store, owned["dataStores"]]},
        "dataStoreContexts dataStoreId": {
            "dataStoreId": owned["dataStores"], "contextKey": "a", "contextValue": "b",
        },
        "dataStoreDerivatives dataStoreId": {"dataStoreId": owned["dataStores"], "derivativeType": "Snapshot"},
        "claimSets/copy originalId": {"originalId": owned["claimSets"], "claimSetName": "Copy"},
    }  # fmt: skip
    details = {
        place: (answer.status_code, answer.json()["detail"])
        for place, each in references.items()
        for answer in [management.post(f"/v3/{place.partition(' ')[0]}", each, **TWO)]
    }

    assert details == {
        "applications vendorId": (409, "Reference 'VendorId' does not exist."),
        "applications dataStoreIds": (409, "Data store does not exist."),
        "applications profileIds": (409, "Profile does not exist."),
        "apiClients applicationId": (409, f"Application with ID {owned['applications']} not found."),
        "apiClients dataStoreIds": (
            409,
            f"The following DataStoreIds were not found in database: {owned['dataStores']}",
        ),
        "dataStoreContexts dataStoreId": (409, "Reference 'DataStoreId' does not exist."),
        "dataStoreDerivatives dataStoreId": (409, "The specified DataStore does not exist."),
        "claimSets/copy originalId": (
            409,
            f"OriginalId {owned['claimSets']} not found. It may have been recently deleted.",
        ),
    }
    theirs = management.post("/v3/applications", body | {"vendorId": vendor, "claimSetName": "Mine"}, **TWO)
    assert theirs.status_code == 201
    assert ClaimSet.objects.get(name="Mine").applications.count() == 0

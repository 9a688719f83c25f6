"""The bodies that the OpenAPI document shows are accepted as they are, but for ids, which are those of items here."""

import re
from typing import Any

import pytest
from django.db import transaction

from edfi_api.core.security.models import ResourceClaim
from tests.features.management_api.managing import Managing, created_id

# Collections in the order in which examples make their items, with the members that hold ids of these.
V3 = {
    "dataStores": ("dataStoreId", "dataStoreIds"),
    "dataStoreContexts": (),
    "dataStoreDerivatives": (),
    "vendors": ("vendorId",),
    "profiles": (),
    "claimSets": ("originalId",),
    "applications": ("applicationId",),
    "apiClients": ("apiClientId",),
    "connections": (),
}
V2 = {
    "odsInstances": ("odsInstanceId", "odsInstanceIds"),
    "odsInstanceContexts": (),
    "odsInstanceDerivatives": (),
    "vendors": ("vendorId",),
    "profiles": (),
    "claimSets": ("originalId",),
    "applications": ("applicationId",),
    "apiclients": (),
}


def with_ids(body: dict[str, Any], ids: dict[str, int]) -> dict[str, Any]:
    """The body with the ids of members that hold some."""
    found = {name: [ids[name]] if isinstance(body[name], list) else ids[name] for name in ids if name in body}
    return body | found


def examples(management: Managing) -> dict[tuple[str, str], Any]:
    """By path and method."""
    paths = management.get("/metadata/specifications").json()["paths"]
    return {
        (path, method): operation["requestBody"]["content"]["application/json"]["example"]
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }


@pytest.mark.parametrize(("version", "collections"), [("v3", V3), ("v2", V2)])
def test_every_example_is_accepted(configured, management: Managing, version: str, collections: dict) -> None:
    configured(MANAGEMENT_REQUESTS_PER_MINUTE=0)
    shown = {key: body for key, body in examples(management).items() if key[0].startswith(f"/{version}/")}
    shown.pop((f"/{version}/tenants", "post"), None)
    claim = ResourceClaim.objects.earliest("pk").pk
    ids, items = {"resourceClaimId": claim}, {}

    for collection, members in collections.items():
        path = f"/{version}/{collection}"
        items[collection] = created_id(management.post(path, with_ids(shown.pop((path, "post")), ids)))
        ids |= dict.fromkeys(members, items[collection])
    grant = f"/{version}/claimSets/{items['claimSets']}/resourceClaimActions"
    body = with_ids(shown.pop((f"/{version}/claimSets/{{id}}/resourceClaimActions", "post")), ids)
    assert management.post(grant, body).status_code == 201
    refused = {}
    for (path, method), example in shown.items():
        item = items[path.split("/")[2]]
        filled = path.replace("{id}", str(item)).replace("{claim_id}", str(claim))
        with transaction.atomic():
            answer = management.request(method, filled, with_ids(example, ids | {"id": item}))
            transaction.set_rollback(True)
        if answer.status_code not in (200, 201, 204):
            refused[method, path] = answer.content

    assert refused == {}
    assert len(shown) > len(collections)


def test_the_example_of_a_tenant_is_accepted(configured, management: Managing) -> None:
    configured(MULTI_TENANCY=True)
    body = examples(management)["/v3/tenants", "post"]

    assert management.post("/v3/tenants", body).status_code == 201


def test_every_operation_has_a_summary_of_its_own(management: Managing) -> None:
    paths = management.get("/metadata/specifications").json()["paths"]
    summaries = [each["summary"] for operations in paths.values() for each in operations.values()]

    assert len(set(summaries)) == len(summaries)
    assert all(re.fullmatch(r"[A-Z].+ \((v2|v3|management)\)\.", each) for each in summaries)

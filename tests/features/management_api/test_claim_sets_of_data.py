"""`management/view-claimsets` and `management/reload-claimsets` at the root of the data API."""

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from edfi_api.core.data_stores.stores import create_tenant
from edfi_api.core.security.models import ClaimSet
from tests.conftest import ApiTestClient, http, new_token
from tests.features.management_api.managing import Managing

UNKNOWN = {
    "detail": "The specified resource could not be found.",
    "type": "urn:ed-fi:api:not-found",
    "title": "Not Found",
    "status": 404,
}


def viewed(path: str) -> Any:
    return http().get(f"/management/{path}")


def test_claim_sets_are_viewed_without_a_token(management: Managing) -> None:
    ClaimSet.objects.create(name="Mine")

    answer = viewed("View-ClaimSets/")

    assert answer.status_code == 200
    assert answer.json() == management.get("/v3/authorizationMetadata").json()
    assert {"claimSetName": "Mine", "claims": [], "authorizations": []} in answer.json()
    assert http().post("/management/view-claimsets").status_code == 405


def test_claim_sets_are_compiled_again_after_a_reload(management: Managing) -> None:
    client = ApiTestClient(new_token("reader"))

    def compilations() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/students").status_code == 200
        return sum("security_grant" in query["sql"] for query in queries)

    assert (compilations() > 0, compilations()) == (True, 0)
    answer = http().post("/management/reload-claimsets")
    assert (answer.status_code, answer.content) == (200, b"")
    assert compilations() > 0


def test_servers_with_tenants_need_one_in_the_address(management: Managing, configured) -> None:
    configured(MULTI_TENANCY=True)
    for name in ("One", "Two"):
        ClaimSet.objects.create(name=f"Of{name}", tenant=create_tenant(name))

    names = {each["claimSetName"] for each in viewed("oNE/view-claimsets").json()}

    assert ("OfOne" in names, "OfTwo" in names, "SISVendor" in names) == (True, False, True)
    for path in ("view-claimsets", "Three/view-claimsets", "%00/view-claimsets"):
        assert (viewed(path).status_code, viewed(path).json()) == (404, UNKNOWN)
    assert http().post("/management/One/reload-claimsets").status_code == 200
    assert http().post("/management/Three/reload-claimsets").json() == UNKNOWN


def test_servers_without_tenants_have_none_in_the_address(management: Managing) -> None:
    assert viewed("One/view-claimsets").json()["type"] == "urn:ed-fi:api:not-found"


def test_without_the_setting_there_is_no_such_address(db: None) -> None:
    assert viewed("view-claimsets").status_code == 404

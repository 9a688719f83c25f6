"""Scope by address and method: what each token may do, at every address of both versions."""

from collections.abc import Iterator

import pytest

from edfi_api.features.management_api.scopes import Scope
from edfi_api.features.management_api.urls import all_addresses
from tests.conftest import new_token
from tests.features.management_api.managing import Managing, token_of

# What may be read with the scope of authorization metadata.
METADATA = {
    "/v3/apiClients",
    "/v3/apiClients/{id}",
    "/v3/claimSets",
    "/v3/authorizationMetadata",
    "/v3/dataStores",
    "/v3/dataStores/{id}",
    "/v3/dataStoreContexts",
    "/v3/dataStoreContexts/{id}",
    "/v3/dataStoreDerivatives",
    "/v3/dataStoreDerivatives/{id}",
    "/v2/apiclients",
    "/v2/apiclients/{id}",
    "/v2/claimSets",
    "/v2/odsInstances",
    "/v2/odsInstances/{id}",
    "/v2/odsInstanceContexts",
    "/v2/odsInstanceContexts/{id}",
    "/v2/odsInstanceDerivatives",
    "/v2/odsInstanceDerivatives/{id}",
}


def operations() -> Iterator[tuple[str, str]]:
    """Method and template of every operation; those about tenants exist only with tenants."""
    for address in all_addresses():
        if not address.template.startswith("/v3/tenants"):
            yield from ((method, address.template) for method in address.actions)


def statuses(client: Managing) -> dict[tuple[str, str], int]:
    """Without a body, and with an id that no item has."""
    found = {}
    for method, template in operations():
        path = "/".join("99999" if part.startswith("{") else part for part in template.split("/"))
        found[method, template] = client.request(method, path).status_code
    return found


@pytest.fixture
def open_limits(anonymous: Managing, configured) -> None:
    configured(CLAIMS_UPLOAD=True, MANAGEMENT_REQUESTS_PER_MINUTE=0)


@pytest.mark.usefixtures("open_limits")
def test_every_scope_allows_what_it_says() -> None:
    full, reading, metadata = (statuses(Managing(token_of(scope, scope))) for scope in Scope)

    assert len(full) > 100
    assert {operation for operation, status in full.items() if status in (401, 403)} == set()
    assert {operation for operation, status in reading.items() if status != 403} == {
        (method, template) for method, template in operations() if method == "get"
    }
    assert {operation for operation, status in metadata.items() if status != 403} == {
        ("get", template) for template in METADATA
    }


@pytest.mark.usefixtures("open_limits")
def test_no_address_is_open_to_others() -> None:
    for client in (Managing(), Managing("unknown"), Managing(new_token())):
        assert {operation for operation, status in statuses(client).items() if status != 401} == set()

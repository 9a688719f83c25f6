"""A page of any list takes one or two queries, however many items it has."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from edfi_api.core.data_stores.models import DataStore, DataStoreContext, DataStoreDerivative
from edfi_api.core.security.credentials import ClientSecretHasher
from edfi_api.core.security.models import ApiClient, ApiClientDataStore, Application, ClaimSet, Vendor
from edfi_api.core.security.profiles.models import Profile
from tests.features.management_api.managing import Managing

NUMBER = 500
LISTS = (
    "v3/vendors",
    "v3/applications",
    "v3/apiClients",
    "v3/claimSets",
    "v3/profiles",
    "v3/dataStores",
    "v3/dataStoreContexts",
    "v3/dataStoreDerivatives",
    "v3/resourceClaims",
    "v3/resourceClaimActions",
    "v3/resourceClaimActionAuthStrategies",
    "v2/vendors",
    "v2/applications",
    "v2/apiclients",
    "v2/claimSets",
    "v2/odsInstances",
)


@pytest.fixture
def _many(management: Managing) -> None:
    vendors = Vendor.objects.bulk_create(Vendor(name=f"v{number}") for number in range(NUMBER))
    ClaimSet.objects.bulk_create(ClaimSet(name=f"c{number}") for number in range(NUMBER))
    applications = Application.objects.bulk_create(
        Application(vendor=vendor, name="a", claim_set_name=f"c{vendor.pk}") for vendor in vendors
    )
    # Hashed once: the field would hash each of them by a million rounds.
    hashed = ClientSecretHasher().hash("secret")
    clients = ApiClient.objects.bulk_create(
        ApiClient(application=each, name="a", client_secret=hashed, client_id=f"key-{each.pk}") for each in applications
    )
    stores = DataStore.objects.bulk_create(DataStore(name=f"s{number}", type="x") for number in range(NUMBER))
    DataStoreContext.objects.bulk_create(DataStoreContext(data_store=each, key="k", value="v") for each in stores)
    DataStoreDerivative.objects.bulk_create(DataStoreDerivative(data_store=each, type="Snapshot") for each in stores)
    Profile.objects.bulk_create(Profile(name=f"p{number}", definition="{}") for number in range(NUMBER))
    pairs = zip(clients, stores, strict=True)
    ApiClientDataStore.objects.bulk_create(ApiClientDataStore(api_client=one, data_store=other) for one, other in pairs)


@pytest.mark.usefixtures("_many")
def test_a_page_of_500_takes_one_or_two_queries(management: Managing, configured) -> None:
    configured(MANAGEMENT_REQUESTS_PER_MINUTE=0)
    counted = {}
    for path in LISTS:
        with CaptureQueriesContext(connection) as queries:
            answer = management.get(f"/{path}?limit={NUMBER}")
        assert answer.status_code == 200, path
        # One of them looks up the token.
        counted[path] = len(queries) - 1
        if not path.startswith("v3/resourceClaim"):
            assert len(answer.json()) == NUMBER, path

    assert {path: number for path, number in counted.items() if number not in (1, 2)} == {}

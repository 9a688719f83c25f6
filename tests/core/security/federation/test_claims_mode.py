"""Tokens that say themselves what their clients may do: mapping, bounds, refusals, and the clients that are made."""

from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections
from django.test import Client

from edfi_api.core.data_stores.stores import create_data_store, create_tenant, tenant_named
from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, ExternalIdentity, Vendor
from edfi_api.core.security.requests.authentication import client_of_token
from tests.conftest import ApiTestClient, http
from tests.core.security.federation.answers import refusal, status
from tests.core.security.federation.conftest import Accept
from tests.core.security.federation.identity_provider import CLIENT, IdentityProvider
from tests.support.factories import STUDENT
from tests.support.logs import Log

CONTEXT = "edfi_api.web.context.ContextMiddleware"
IN_LAKESIDE = "/lakeside/data/ed-fi/students"
SCHOOL_YEAR = {"schoolYear": 2099, "currentSchoolYear": False, "schoolYearDescription": "x"}


def claiming(accept: Accept, provider: IdentityProvider, **claims: Any) -> None:
    accept(provider, claims={"mode": "claims", **claims})


@pytest.fixture
def trusted(provider: IdentityProvider, accept: Accept, db: None) -> IdentityProvider:
    claiming(accept, provider)
    return provider


def described(token: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    response = http().post("/oauth/token_info", {"token": token}, content_type="application/json", headers=headers)
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()
    return found


RIGHTS = {
    "scope": "SISVendor",
    "namespacePrefixes": "uri://ed-fi.org,uri://lakeside.example",
    "educationOrganizationIds": "255901,255902",
}


def test_rights_come_from_the_token(trusted: IdentityProvider, log: Log) -> None:
    info = described(trusted.token(**RIGHTS))

    client = ApiClient.objects.get()
    assert (info["client_id"], info["claim_set"]) == (client.client_id, {"name": "SISVendor"})
    assert info["namespace_prefixes"] == ["uri://ed-fi.org", "uri://lakeside.example"]
    assert [each["education_organization_id"] for each in info["education_organizations"]] == [255901, 255902]
    assert [(line["event"], line["by"]) for line in log.audit] == [
        ("client created", trusted.issuer),
        ("external identity set", trusted.issuer),
    ]


def test_rights_of_a_token_apply_to_requests(trusted: IdentityProvider) -> None:
    full, sis = ApiTestClient(trusted.token(scope="FullAccess")), ApiTestClient(trusted.token(**RIGHTS))

    assert sis.post("/schoolYearTypes", SCHOOL_YEAR).status_code == 403
    assert full.post("/schoolYearTypes", SCHOOL_YEAR).status_code == 201
    namespace = {"codeValue": "x", "shortDescription": "x", "namespace": "uri://elsewhere.example/SexDescriptor"}
    assert ApiTestClient(trusted.token(**RIGHTS)).post("/sexDescriptors", namespace).status_code == 403


def test_the_client_is_made_once_and_creates_documents(trusted: IdentityProvider) -> None:
    for number in range(3):
        token = trusted.token(scope="FullAccess", n=number)
        assert ApiTestClient(token).post("/students", STUDENT).status_code == (200 if number else 201)

    client = ApiClient.objects.get()
    assert (client.name, client.external_identity.issuer) == (CLIENT, trusted.issuer)
    assert (client.application.name, client.application.vendor.name) == (trusted.issuer, trusted.issuer)
    assert set(Document.objects.values_list("created_by", flat=True)) == {client.pk}


def test_a_client_is_switched_off_in_the_admin(trusted: IdentityProvider, client: Client, log: Log) -> None:
    assert status(trusted.token(**RIGHTS)) == 200
    client.force_login(get_user_model().objects.create_superuser("operator"))
    made = ApiClient.objects.get()
    page = client.get(f"/admin/security/apiclient/{made.pk}/change/").content.decode()
    assert CLIENT in page
    assert trusted.issuer in page
    assert "as its tokens say" in page
    form = {"_selected_action": made.pk, "action": "disable"}
    assert client.post("/admin/security/apiclient/", form).status_code == 302

    assert refusal(trusted.token(**RIGHTS, n=1), log) == ("client inactive", trusted.issuer)
    checked = StringIO()
    call_command("check", databases=["default"], stderr=checked, stdout=checked)
    assert "W006" not in checked.getvalue()


def test_profiles_can_be_assigned_in_the_admin(trusted: IdentityProvider, client: Client) -> None:
    assert status(trusted.token(**RIGHTS)) == 200
    client.force_login(get_user_model().objects.create_superuser("operator"))
    application = Application.objects.get()
    form = {
        "vendor": application.vendor_id,
        "name": "Clients of the state",
        "claim_set": "",
        "education_organization_ids": "",
        "api_clients-TOTAL_FORMS": 0,
        "api_clients-INITIAL_FORMS": 0,
    }

    assert client.post(f"/admin/security/application/{application.pk}/change/", form).status_code == 302
    assert status(trusted.token(**RIGHTS, n=1)) == 200


@pytest.mark.parametrize(
    ("paths", "claims"),
    [
        ({}, {"scope": "profile SISVendor email"}),
        ({"claimSet": "roles"}, {"roles": ["offline_access", "SISVendor"]}),
        ({"claimSet": "realm_access.roles"}, {"realm_access": {"roles": ["SISVendor"]}}),
        ({"claimSet": 'resource_access."my.app".roles'}, {"resource_access": {"my.app": {"roles": ["SISVendor"]}}}),
    ],
)
def test_where_the_claim_set_may_stand(
    provider: IdentityProvider, accept: Accept, db: None, paths: dict[str, str], claims: dict[str, Any]
) -> None:
    claiming(accept, provider, **paths)

    assert described(provider.token(**claims))["claim_set"] == {"name": "SISVendor"}


def test_a_claim_set_with_blanks_in_its_name(trusted: IdentityProvider) -> None:
    ClaimSet.objects.create(name="Two Words")

    assert described(trusted.token(scope="Two Words"))["claim_set"] == {"name": "Two Words"}


@pytest.mark.parametrize(
    ("claims", "found"),
    [
        ({"educationOrganizationIds": [255901, "255902"]}, [255901, 255902]),
        ({"educationOrganizationIds": 255901}, [255901]),
        ({"educationOrganizationIds": "255901"}, [255901]),
        ({"educationOrganizationIds": " 255901 , 255902 "}, [255901, 255902]),
        ({"educationOrganizationIds": []}, []),
        ({"educationOrganizationIds": ""}, []),
        ({"educationOrganizationIds": None}, []),
        ({"educationOrganizationIds": 2**63 - 1}, [2**63 - 1]),
    ],
)
def test_forms_of_organizations(trusted: IdentityProvider, claims: dict[str, Any], found: list[int]) -> None:
    info = described(trusted.token(scope="SISVendor", **claims))

    assert [each["education_organization_id"] for each in info["education_organizations"]] == found


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("claim set", {}),
    ("claim set", {"scope": ""}),
    ("claim set", {"scope": "Unknown"}),
    ("claim set", {"scope": "sisvendor"}),
    ("claim set", {"scope": "SISVendor FullAccess"}),
    ("claim set", {"scope": ["SISVendor", "FullAccess"]}),
    ("claim set", {"scope": 7}),
    ("claim set", {"scope": [["SISVendor"]]}),
    ("claim set", {"scope": {"SISVendor": True}}),
    ("claim set", {"scope": "SIS\0Vendor"}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": "255901,"}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": "all"}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": ["255901", "*"]}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": [0]}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": [-255901]}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": [2**63]}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": ["9" * 30]}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": [True]}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": [255901.0]}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": [None]}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": {"id": 255901}}),
    ("claims", {"scope": "SISVendor", "educationOrganizationIds": "٣"}),
    ("claims", {"scope": "SISVendor", "namespacePrefixes": [7]}),
    ("claims", {"scope": "SISVendor", "namespacePrefixes": {"a": "b"}}),
    ("claims", {"scope": "SISVendor", "namespacePrefixes": "uri://a\nuri://b"}),
    ("claims", {"scope": "SISVendor", "dataStoreIds": ["a"]}),
]


@pytest.mark.parametrize(("reason", "claims"), REFUSED)
def test_claims_that_are_not_understood(
    trusted: IdentityProvider, log: Log, reason: str, claims: dict[str, Any]
) -> None:
    assert refusal(trusted.token(**claims), log) == (reason, trusted.issuer)
    assert not ApiClient.objects.exists()


def test_a_blank_prefix_grants_no_namespace(trusted: IdentityProvider) -> None:
    """As a beginning of namespaces it would fit them all."""
    assert described(trusted.token(scope="SISVendor", namespacePrefixes=", ,"))["namespace_prefixes"] == []
    assert described(trusted.token(scope="SISVendor", namespacePrefixes=["", " "]))["namespace_prefixes"] == []


ALLOWED = {
    "claimSets": ["SISVendor"],
    "namespacePrefixes": ["uri://lakeside.example"],
    "educationOrganizations": [255901],
    "dataStores": [1, 2],
}


@pytest.fixture
def bounded(provider: IdentityProvider, accept: Accept, db: None) -> IdentityProvider:
    claiming(accept, provider, allowed=ALLOWED)
    return provider


@pytest.mark.parametrize(
    "claims",
    [
        {"educationOrganizationIds": 255901},
        {"namespacePrefixes": "uri://lakeside.example/more", "educationOrganizationIds": 255901},
    ],
)
def test_within_its_bounds_an_issuer_grants(bounded: IdentityProvider, claims: dict[str, Any]) -> None:
    assert status(bounded.token(scope="SISVendor", **claims)) == 200


def test_within_its_bounds_an_issuer_may_grant_a_claim_set_alone(bounded: IdentityProvider) -> None:
    info = described(bounded.token(scope="SISVendor"))

    assert info["claim_set"] == {"name": "SISVendor"}
    assert (info["education_organizations"], info["namespace_prefixes"]) == ([], [])


@pytest.mark.parametrize(
    ("reason", "claims"),
    [
        ("claim set", {"scope": "FullAccess"}),
        ("claims", {"namespacePrefixes": "uri://ed-fi.org"}),
        ("claims", {"namespacePrefixes": "uri://lakeside.example.evil"}),
        ("claims", {"namespacePrefixes": ["uri://lakeside.example", "uri://"]}),
        ("claims", {"educationOrganizationIds": [255901, 255902]}),
        ("claims", {"dataStoreIds": [1, 3]}),
    ],
)
def test_what_an_issuer_may_grant_is_bounded(
    bounded: IdentityProvider, log: Log, reason: str, claims: dict[str, Any]
) -> None:
    assert refusal(bounded.token(**{"scope": "SISVendor"} | claims), log) == (reason, bounded.issuer)


def test_a_changed_claim_set_counts_for_a_remembered_token(trusted: IdentityProvider) -> None:
    token = trusted.token(scope="FullAccess")
    assert status(token) == 200

    ClaimSet.objects.get(name="FullAccess").grants.all().delete()
    client_of_token.cache_clear()

    assert status(token) == 403


@pytest.fixture
def tenants(settings: Any, db: None) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "MULTI_TENANCY": True, "STORE_KEYS": ("a key of tests",)}
    place = settings.MIDDLEWARE.index(settings.DATA_ROUTES)
    settings.MIDDLEWARE = [*settings.MIDDLEWARE[:place], CONTEXT, *settings.MIDDLEWARE[place:]]
    create_tenant("lakeside")
    create_tenant("hillside")


def test_the_clients_of_an_issuer_belong_to_its_tenant(
    tenants: None, provider: IdentityProvider, accept: Accept, log: Log
) -> None:
    ClaimSet.objects.create(name="OfThird", tenant_id=create_tenant("third").pk)
    stores = [create_data_store(name, tenant=tenant_named(name)).pk for name in ("lakeside", "hillside")]
    accept(provider, tenant="Lakeside", claims={"mode": "claims"})

    def answered(tenant: str, *ids: int) -> int:
        token = provider.token(scope="SISVendor", dataStoreIds=ids)
        return http().get(f"/{tenant}/data/ed-fi/students", HTTP_AUTHORIZATION=f"Bearer {token}").status_code

    # Its own data store is found, and has no database yet.
    assert answered("lakeside", *stores) == 503
    assert answered("hillside", *stores) == 404
    assert answered("lakeside", stores[1]) == 404
    assert answered("lakeside") == 403
    assert Vendor.objects.get().tenant.name == "lakeside"
    # Claim sets of other tenants do not exist for it.
    assert refusal(provider.token(scope="OfThird"), log, IN_LAKESIDE) == ("claim set", provider.issuer)


def test_an_issuer_of_a_tenant_that_does_not_exist(
    tenants: None, provider: IdentityProvider, accept: Accept, log: Log
) -> None:
    accept(provider, tenant="nowhere", claims={"mode": "claims"})

    assert refusal(provider.token(scope="SISVendor"), log, IN_LAKESIDE) == ("no such client", provider.issuer)


def test_an_identity_of_another_tenant_is_not_found(
    tenants: None, provider: IdentityProvider, accept: Accept, log: Log
) -> None:
    out = StringIO()
    accept(provider, tenant="lakeside")
    arguments = ["Theirs", "--claim-set=SISVendor", "--tenant=hillside", "--external", provider.issuer, CLIENT]
    call_command("create_api_client", *arguments, stdout=out)

    assert refusal(provider.token(), log, IN_LAKESIDE) == ("no such client", provider.issuer)


@pytest.mark.usefixtures("transactional_db")
def test_concurrent_first_requests_make_one_client(
    transactional_db: None, provider: IdentityProvider, accept: Accept
) -> None:
    claiming(accept, provider)

    def send(number: int) -> int:
        try:
            return status(provider.token(scope="FullAccess", n=number))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(send, range(8))) == {200}
    assert ExternalIdentity.objects.count() == ApiClient.objects.count() == 1

"""Who wrote a row, and when, is recorded with it: by the management API, the admin and commands."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from edfi_api.core.data_stores.models import DataStore, DataStoreContext, DataStoreDerivative, Tenant
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, ResourceClaim, Vendor
from edfi_api.core.security.profiles.models import Profile
from edfi_api.features.management_api.models import ManagementClient
from tests.features.management_api.managing import APPLICATION, SECRET, VENDOR, Managing, created_id, token_of
from tests.support.admin_users import client_of

PROFILE = (
    "<Profile name='Names'><Resource name='Student'><ReadContentType memberSelection='IncludeOnly'>"
    "<Property name='firstName'/></ReadContentType></Resource></Profile>"
)


def writers(model: Any, **found: Any) -> tuple[str, str]:
    row = model.objects.get(**found)
    return row.created_by, row.modified_by


# The things that management makes, each with a column that can be changed.
EACH_THING = {
    Vendor: "name",
    Application: "name",
    ApiClient: "name",
    ClaimSet: "name",
    ResourceClaim: "name",
    Profile: "name",
    DataStore: "name",
    DataStoreContext: "value",
    DataStoreDerivative: "connection",
    Tenant: "name",
}


@pytest.fixture
def each_thing(management: Managing, configured) -> dict[Any, Any]:
    """One of each thing, made by management: its model, and a query that finds it."""
    vendor = created_id(management.post("/v3/vendors", VENDOR))
    management.post("/v3/applications", APPLICATION | {"vendorId": vendor})
    management.post("/v3/claimSets", {"claimSetName": "Mine"})
    management.post("/v3/resourceClaims", {"name": "domains/pets"})
    management.post("/v3/profiles", {"name": "Names", "definition": PROFILE})
    store = created_id(
        management.post("/v3/dataStores", {"dataStoreType": "x", "name": "x", "connectionString": "main"})
    )
    context = {"dataStoreId": store, "contextKey": "schoolYear", "contextValue": "2027"}
    management.post("/v3/dataStoreContexts", context)
    management.post("/v3/dataStoreDerivatives", {"dataStoreId": store, "derivativeType": "Snapshot"})
    configured(MULTI_TENANCY=True)
    management.post("/v3/tenants", {"name": "Lakeside"})
    found = {ClaimSet: {"name": "Mine"}, ResourceClaim: {"name": "domains/pets"}}
    return {model: model.objects.filter(**found.get(model, {})) for model in EACH_THING}


def test_each_thing_that_is_made_names_its_management_client(each_thing) -> None:
    made = {model.__name__: writers(model, pk=rows.get().pk) for model, rows in each_thing.items()}

    assert made == dict.fromkeys(made, ("operator", "operator"))
    assert len(made) == 10


@pytest.mark.parametrize("model", EACH_THING)
def test_each_thing_names_who_changed_it_last(each_thing, model: Any) -> None:
    row = each_thing[model].get()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL meadowlark.writer TO 'other'")

    each_thing[model].update(**{EACH_THING[model]: "changed"})

    assert writers(model, pk=row.pk) == ("operator", "other")


def test_the_last_writer_is_another_than_the_first(management: Managing, vendor: int) -> None:
    before = Vendor.objects.get()
    other = Managing(token_of("second"))

    other.put(f"/v3/vendors/{vendor}", VENDOR | {"id": vendor, "namespacePrefixes": "uri://other.example"})

    row = Vendor.objects.get()
    assert (row.created_by, row.modified_by) == ("operator", "second")
    assert row.created_at == before.created_at
    assert datetime.now(UTC) - row.modified_at < timedelta(minutes=5)


def test_a_request_that_changes_nothing_is_no_writer(management: Managing, vendor: int) -> None:
    Managing(token_of("second")).put(f"/v3/vendors/{vendor}", VENDOR | {"id": vendor})

    assert writers(Vendor) == ("operator", "operator")


def test_answers_do_not_name_writers(management: Managing, vendor: int) -> None:
    assert set(management.get(f"/v3/vendors/{vendor}").json()) == {"id", *VENDOR}


def test_commands_are_named_as_such(db: None) -> None:
    create_client("Lakeside", "SISVendor")
    call_command("create_management_client", "scripts", verbosity=0)

    assert {writers(model) for model in (Vendor, Application, ApiClient, ManagementClient)} == {("command", "command")}


def test_clients_that_register_name_themselves(anonymous: Managing, configured) -> None:
    configured(MANAGEMENT_REGISTRATION=True)

    anonymous.form("/connect/register", ClientId="admin-app", ClientSecret=SECRET, DisplayName="x")

    assert writers(ManagementClient) == ("admin-app", "admin-app")


@pytest.mark.usefixtures("db")
def test_the_admin_names_its_users_and_shows_writers() -> None:
    create_client("Lakeside", "SISVendor")
    vendor = Vendor.objects.get()
    admin = client_of(User.objects.create(username="mae", is_staff=True, is_superuser=True))
    inline = {"applications-TOTAL_FORMS": 0, "applications-INITIAL_FORMS": 0}

    saved = admin.post(f"/admin/security/vendor/{vendor.pk}/change/", {"name": "Renamed"} | inline)

    assert saved.status_code == 302
    assert writers(Vendor) == ("command", "admin:mae")
    page = admin.get(f"/admin/security/vendor/{vendor.pk}/change/").content.decode()
    assert " by command<br>Last: " in page
    assert " by admin:mae<br>" in page


@pytest.mark.usefixtures("db")
def test_actions_of_the_admin_name_their_users() -> None:
    for name in ("One", "Two"):
        create_client(name, "SISVendor")
    one, two = ApiClient.objects.order_by("name")
    admin = client_of(User.objects.create(username="mae", is_staff=True, is_superuser=True))

    admin.post(f"/admin/security/apiclient/{one.pk}/rotate-secret/")
    admin.post("/admin/security/apiclient/", {"action": "disable", "_selected_action": [two.pk]})
    original = ClaimSet.objects.get(name="SISVendor").pk
    admin.post(f"/admin/security/claimset/{original}/copy/", {"name": "Copy"})

    assert {writers(ApiClient, pk=each.pk) for each in (one, two)} == {("command", "admin:mae")}
    assert writers(ClaimSet, name="Copy") == ("admin:mae", "admin:mae")

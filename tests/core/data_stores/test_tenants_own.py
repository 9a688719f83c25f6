"""What belongs to a tenant: the database refuses rows that would connect two tenants."""

from types import ModuleType

import pytest
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.urls import get_resolver, path

from edfi_api.common.addresses import first_segments
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.data_stores.stores import check_segment, create_tenant
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Vendor
from edfi_api.core.security.profiles.models import Profile
from edfi_api.features.management_api.urls import management_routes

pytestmark = pytest.mark.django_db


@pytest.fixture
def two():
    return create_tenant("Lakeside"), create_tenant("Grand-Bend")


def _application(tenant, name):
    create_client(name, "EdFiSandbox", tenant=tenant)
    return Application.objects.get(name=name)


def _refused(constraint, write):
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        write()
    assert refusal.value.__cause__.diag.constraint_name == constraint


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("data", "'data' is reserved."),
        ("V5.2", "A name consists of letters, digits, '_' and '-'."),
        ("v3", "'v3' is reserved."),
        ("Oauth", "'Oauth' is reserved."),
        ("admin", "'admin' is reserved."),
        ("config", "'config' is reserved."),
        ("Guides", "'Guides' is reserved."),
        ("submissions", "'submissions' is reserved."),
        ("docs", "'docs' is reserved."),
        ("lake side", "A name consists of letters, digits, '_' and '-'."),
        ("", "This field cannot be blank."),
        ("x" * 257, "Ensure this value has at most 256 characters (it has 257)."),
        ("LAKESIDE", "Constraint “tenant_once_in_any_case” is violated."),
    ],
)
def test_names_that_no_tenant_can_have(two, name, message):
    with pytest.raises(ValidationError) as refusal:
        create_tenant(name)
    assert refusal.value.messages == [message]


def test_no_tenant_has_a_name_with_which_a_route_begins(db):
    routes = get_resolver().url_patterns
    words = first_segments(settings.ROOT_URLCONF)

    assert {"admin", "batch", "changequeries", "guides", "health", "history", "metrics", "secret"} <= words
    for word in words:
        with pytest.raises(ValidationError):
            check_segment(word)
    # The only route that begins with a parameter, whose words are reserved beside.
    assert [route.pattern.regex.pattern.startswith("^(?P") for route in routes if hasattr(route, "name")][:1] == [True]


def test_a_path_of_the_settings_is_reserved_too(settings):
    urls = ModuleType("urls_with_other_paths")
    urls.urlpatterns = [*management_routes("Steering/api"), path("ops/admin/", admin.site.urls)]
    settings.ROOT_URLCONF = urls

    for name in ("steering", "OPS"):
        with pytest.raises(ValidationError, match="is reserved"):
            check_segment(name)


def test_vendors_of_two_tenants_may_have_the_same_name(two):
    for tenant in two:
        Vendor.objects.create(tenant=tenant, name="Acme")

    with pytest.raises(ValidationError) as refusal:
        Vendor(tenant=two[0], name="Acme").full_clean()
    assert refusal.value.message_dict == {"name": ["Vendor with this Name already exists."]}
    _refused("vendor_once_per_tenant", lambda: Vendor.objects.create(tenant=two[0], name="Acme"))


def test_vendors_without_tenants_have_different_names():
    Vendor.objects.create(name="Acme")

    _refused("vendor_once_per_tenant", lambda: Vendor.objects.create(name="Acme"))


def test_the_name_of_a_shared_claim_set_is_taken_for_all_tenants(two):
    ClaimSet.objects.create(tenant=two[0], name="Nurse")
    ClaimSet.objects.create(tenant=two[1], name="Nurse")

    for tenant, name in [(two[0], "EdFiSandbox"), (None, "Nurse")]:
        with pytest.raises(ValidationError) as refusal:
            ClaimSet(tenant=tenant, name=name).full_clean()
        assert refusal.value.message_dict == {
            "name": [f"There is a claim set {name} already. Names of claim sets are unique in any case."]
        }
        _refused("claim_set_name_is_not_shared", lambda: ClaimSet.objects.create(tenant=tenant, name=name))  # noqa: B023
    _refused("claim_set_once_per_tenant", lambda: ClaimSet.objects.create(tenant=two[0], name="Nurse"))


def test_the_name_of_a_shared_profile_is_taken_for_all_tenants(two):
    Profile.objects.create(name="Portal", definition="{}")
    Profile.objects.create(tenant=two[0], name="Own", definition="{}")
    Profile.objects.create(tenant=two[1], name="own", definition="{}")

    create = Profile.objects.create
    _refused("profile_name_is_not_shared", lambda: create(tenant=two[0], name="portal", definition="{}"))
    _refused("profile_name_is_not_shared", lambda: create(name="OWN", definition="{}"))
    _refused("profile_once_per_tenant", lambda: create(tenant=two[0], name="OWN", definition="{}"))


def test_an_application_has_no_claim_set_of_another_tenant(two):
    application = _application(two[0], "sis")
    application.claim_set = ClaimSet.objects.create(tenant=two[1], name="Nurse")

    with pytest.raises(ValidationError) as refusal:
        application.full_clean()
    assert list(refusal.value.message_dict) == ["claim_set"]
    _refused("application_is_of_one_tenant", application.save)


def test_applications_and_clients_stay_with_their_tenant(two):
    application, other = _application(two[0], "sis"), _application(two[1], "portal")
    application.vendor = other.vendor
    _refused("application_is_of_one_tenant", application.save)

    client = ApiClient.objects.get(name="sis")
    client.application = other
    _refused("client_is_of_one_tenant", client.save)


def test_a_client_uses_no_data_store_of_another_tenant(two):
    _application(two[0], "sis")
    client = ApiClient.objects.get(name="sis")

    for tenant in (two[1], None):
        store = DataStore.objects.create(tenant=tenant, name="2027")
        _refused("data_store_is_of_the_tenant", lambda: client.data_stores.add(store))  # noqa: B023


def test_an_application_is_bound_by_no_profile_of_another_tenant(two):
    application = _application(two[0], "sis")
    profile = Profile.objects.create(tenant=two[1], name="Portal", definition="{}")

    _refused("profile_is_of_the_tenant", lambda: application.profiles.add(profile))


def test_a_new_application_has_no_claim_set_of_another_tenant(two):
    vendor = Vendor.objects.create(tenant=two[0], name="Acme")
    nurse = ClaimSet.objects.create(tenant=two[1], name="Nurse")

    create = Application.objects.create
    _refused("application_is_of_one_tenant", lambda: create(vendor=vendor, name="sis", claim_set=nurse))


@pytest.mark.parametrize(("model", "definition"), [(ClaimSet, {}), (Profile, {"definition": "{}"})])
def test_nothing_of_a_tenant_is_renamed_to_what_is_shared(two, model, definition):
    model.objects.create(name="Shared", **definition)
    own = model.objects.create(tenant=two[0], name="Own", **definition)

    rename = model.objects.filter(pk=own.pk).update
    constraint = f"{model._meta.verbose_name.replace(' ', '_')}_name_is_not_shared"
    _refused(constraint, lambda: rename(name="Shared"))


def test_data_stores_and_profiles_of_a_tenant_are_not_replaced_by_those_of_another(two):
    application = _application(two[0], "sis")
    stores = [DataStore.objects.create(tenant=tenant, name="2027") for tenant in two]
    profiles = [Profile.objects.create(tenant=tenant, name="Portal", definition="{}") for tenant in two]
    ApiClient.objects.get(name="sis").data_stores.add(stores[0])
    application.profiles.add(profiles[0])

    assigned, bound = ApiClient.data_stores.through.objects, Application.profiles.through.objects
    _refused("data_store_is_of_the_tenant", lambda: assigned.update(data_store=stores[1]))
    _refused("profile_is_of_the_tenant", lambda: bound.update(profile=profiles[1]))


@pytest.mark.parametrize("model", [Vendor, ClaimSet, Profile, DataStore])
def test_the_tenant_of_a_row_never_changes(two, model):
    row = model.objects.create(name="Own")

    _refused("tenant_is_final", lambda: model.objects.filter(pk=row.pk).update(tenant=two[0]))


def test_a_tenant_that_owns_something_is_not_removed(two):
    Vendor.objects.create(tenant=two[0], name="Acme")

    with pytest.raises(ProtectedError):
        two[0].delete()
    assert two[1].delete()[0] == 1


def test_a_client_is_given_claim_sets_of_its_tenant_and_shared_ones(two):
    ClaimSet.objects.create(tenant=two[0], name="Nurse")
    ClaimSet.objects.create(tenant=two[1], name="Clerk")

    create_client("nurse", "Nurse", tenant=two[0])
    with pytest.raises(ValidationError) as refusal:
        create_client("clerk", "Clerk", tenant=two[0])

    assert refusal.value.message_dict["claim_set"] == [
        'There is no claim set "Clerk"; there are: AssessmentVendor, BootstrapDescriptorsandEdOrgs, '
        "EdFiAPIPublisherReader, EdFiAPIPublisherWriter, EdFiSandbox, EdFiSandboxDefaults, FullAccess, Nurse, "
        "OwnershipBased, RosterVendor, SISVendor."
    ]

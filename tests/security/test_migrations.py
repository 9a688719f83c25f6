"""The migrations of the security app, on which those of django-oauth-toolkit depend."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from edfi_api.security.claims_store import stored_claims
from edfi_api.security.clients import create_client
from edfi_api.security.models import ApiClient, Application, ClaimSet, Grant, Vendor

SANDBOX_DEFAULTS = "EdFiSandboxDefaults"
CLIENTS, TOKENS = "security_apiclient", "oauth2_provider_accesstoken"


@pytest.fixture
def _all_applied_in_the_end() -> Iterator[None]:
    yield
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0)


def tables() -> set[str]:
    return {CLIENTS, TOKENS} & set(connection.introspection.table_names())


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_all_applied_in_the_end")
def test_migrations_can_be_reverted_and_applied_again() -> None:
    call_command("migrate", "security", "zero", verbosity=0)
    assert tables() == set()

    call_command("migrate", verbosity=0)
    assert tables() == {CLIENTS, TOKENS}


@pytest.mark.django_db
def test_no_migration_of_any_app_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.django_db
def test_the_database_refuses_a_client_with_another_grant() -> None:
    create_client("Demo", "EdFiSandbox")

    with pytest.raises(IntegrityError, match="api_client_uses_client_credentials"):
        ApiClient.objects.update(authorization_grant_type="password")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_all_applied_in_the_end")
class TestSandboxDefaults:
    def test_it_is_added_to_an_existing_database_as_to_a_new_one(self) -> None:
        new = stored_claims().claim_sets.pop(SANDBOX_DEFAULTS)
        ClaimSet.objects.filter(name__in=[SANDBOX_DEFAULTS, "RosterVendor"]).delete()
        Grant.objects.filter(claim_set__name="SISVendor").update(actions=["Read"])
        edited = stored_claims()

        call_command("migrate", "security", "0005", verbosity=0)
        call_command("migrate", verbosity=0)

        migrated = stored_claims()
        assert migrated.claim_sets.pop(SANDBOX_DEFAULTS) == new
        assert migrated == edited

    def test_a_claim_set_of_the_operator_is_kept_and_blank_namespace_prefixes_are_removed(self) -> None:
        Grant.objects.filter(claim_set__name=SANDBOX_DEFAULTS).delete()
        edited = stored_claims()

        call_command("migrate", "security", "0004", verbosity=0)
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO security_vendor (name, namespace_prefixes) VALUES"
                " ('All', ARRAY['']), ('Some', ARRAY['uri://b', '  ', 'uri://a']), ('None', '{}')"
            )
        call_command("migrate", verbosity=0)

        assert stored_claims() == edited
        prefixes = dict(Vendor.objects.values_list("name", "namespace_prefixes"))
        assert prefixes == {"All": [], "Some": ["uri://b", "uri://a"], "None": []}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_all_applied_in_the_end")
def test_applications_keep_their_claim_sets_by_name() -> None:
    """Those without a claim set get an empty one when migrations are reverted."""
    create_client("Portal", "SISVendor")
    Application.objects.update(claim_set=None, claim_set_name="Later")
    Application.objects.update(claim_set_name="Much later")
    assert Application.objects.get().claim_set is None

    call_command("migrate", "security", "0008", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO security_vendor (name, namespace_prefixes) VALUES ('Lakeside', '{}') RETURNING id")
        vendor = cursor.fetchone()[0]
        cursor.execute(
            "INSERT INTO security_application (vendor_id, name, claim_set_id, education_organization_ids)"
            " SELECT %s, 'Roster', id, '{-1}' FROM security_claimset WHERE name = 'SISVendor'",
            [vendor],
        )
    call_command("migrate", verbosity=0)

    portal, roster = Application.objects.order_by("name")
    assert portal.claim_set.name == "Much later"
    assert not Grant.objects.filter(claim_set__name="Much later").exists()
    assert (roster.claim_set_name, roster.claim_set.name) == ("SISVendor", "SISVendor")
    assert ClaimSet.objects.get(name="SISVendor").is_system_reserved
    Application.objects.filter(name="Roster").update(name="Roster 2", claim_set_name="Later")
    with pytest.raises(IntegrityError, match="education organization id below 1"):
        Application.objects.filter(name="Roster 2").update(education_organization_ids=[0])


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_all_applied_in_the_end")
def test_claim_sets_are_renamed_and_applications_keep_them() -> None:
    create_client("Loader", "BootstrapDescriptorsandEdOrgs")
    granted = stored_claims().claim_sets["BootstrapDescriptorsandEdOrgs"].grants
    call_command("migrate", "security", "0013", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT claim_set_name FROM security_application")
        assert cursor.fetchall() == [("BootstrapDescriptorsAndEdOrgs",)]
        # From before names were unique in any case.
        cursor.execute("ALTER TABLE security_claimset DISABLE TRIGGER claim_set_name_is_not_shared")
        cursor.execute(
            "INSERT INTO security_claimset (name, description, is_system_reserved)"
            " VALUES ('sisvendor', 'mine', false) RETURNING id"
        )
        duplicate = cursor.fetchone()[0]
        cursor.execute("ALTER TABLE security_claimset ENABLE TRIGGER claim_set_name_is_not_shared")

    call_command("migrate", verbosity=0)

    loader = Application.objects.get()
    assert loader.claim_set_name == loader.claim_set.name == "BootstrapDescriptorsandEdOrgs"
    assert loader.claim_set.is_system_reserved
    assert stored_claims().claim_sets["BootstrapDescriptorsandEdOrgs"].grants == granted
    assert ClaimSet.objects.get(description="mine").name == f"sisvendor ({duplicate})"
    assert ClaimSet.objects.filter(name="SISVendor").exists()


@pytest.mark.django_db
def test_the_database_refuses_names_of_claim_sets_that_differ_in_case_only() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE security_claimset DISABLE TRIGGER claim_set_name_is_not_shared")

    with pytest.raises(IntegrityError, match="claim_set_name_once_in_any_case"), transaction.atomic():
        ClaimSet.objects.create(name="SISVENDOR")

"""The migrations of all apps, and what the tables of the security app refuse."""

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient, ClaimSet

pytestmark = pytest.mark.django_db


def test_no_migration_of_any_app_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_the_database_refuses_a_client_with_another_grant() -> None:
    create_client("Demo", "EdFiSandbox")

    with pytest.raises(IntegrityError, match="api_client_uses_client_credentials"):
        ApiClient.objects.update(authorization_grant_type="password")


def test_the_database_refuses_names_of_claim_sets_that_differ_in_case_only() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE security_claimset DISABLE TRIGGER claim_set_name_is_not_shared")

    with pytest.raises(IntegrityError, match="claim_set_name_once_in_any_case"), transaction.atomic():
        ClaimSet.objects.create(name="SISVENDOR")

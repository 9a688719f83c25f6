"""The index of documents by their owner is there while a claim set in use decides by ownership."""

import pytest
from django.db import connection

from edfi_api.core.security.models import ApiClient, Application, ClaimSet
from tests.conftest import create_client
from tests.support.management_commands import run


def is_there() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('document_owner')")
        return cursor.fetchone() == (True,)


def test_it_is_built_when_a_client_is_of_such_a_claim_set_and_dropped_when_none_is(transactional_db) -> None:
    assert ClaimSet.objects.filter(name="OwnershipBased").exists()
    assert run("index_owners") == ["document_owner: nothing to do"]

    create_client("owner", "OwnershipBased")
    try:
        assert run("index_owners") == ["document_owner built: a claim set decides by ownership"]
        assert is_there()
        assert run("index_owners") == ["document_owner: nothing to do"]
        run("migrate")
        assert is_there()
    finally:
        ApiClient.objects.all().delete()
        Application.objects.all().delete()
        dropped = run("index_owners")

    assert dropped == ["document_owner dropped: no claim set in use decides by ownership"]
    assert not is_there()


@pytest.mark.parametrize("arguments", [("--plan",), ("--check",), ("security",)])
def test_migrate_leaves_it_alone_if_it_does_not_apply_everything(transactional_db, arguments) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX document_owner ON document (created_by, resource_type_id, id)")
    try:
        run("migrate", *arguments)
        assert is_there()
    finally:
        run("index_owners")

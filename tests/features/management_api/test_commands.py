"""Commands for management clients."""

import json

import pytest
from django.core.management.base import CommandError

from edfi_api.features.management_api.apps import registration_is_closed
from tests.features.management_api.managing import Managing
from tests.support.management_commands import run


def _token(anonymous: Managing, secret: str):
    form = {"client_id": "Ops", "client_secret": secret, "grant_type": "client_credentials"}
    return anonymous.form("/connect/token", **form)


def test_a_client_is_made_listed_given_a_new_secret_and_disabled(anonymous: Managing) -> None:
    made = run("create_management_client", "Ops", "--scope", "readonly_access")
    first = made[1].split()[1]
    token = _token(anonymous, first).json()["access_token"]
    assert made[0] == "id          Ops"
    assert run("list_management_clients") == ["Ops  active  edfi_admin_api/readonly_access"]
    assert Managing(token).get("/v3/vendors").status_code == 200

    second = run("rotate_management_secret", "Ops")[1].split()[1]
    assert _token(anonymous, first).status_code == 401
    assert Managing(token).get("/v3/vendors").status_code == 401
    assert _token(anonymous, second).status_code == 200

    assert run("disable_management_client", "Ops") == ['The management client "Ops" is disabled.']
    assert _token(anonymous, second).status_code == 401
    with pytest.raises(CommandError, match='There is a management client "ops" already'):
        run("create_management_client", "ops")


def test_unknown_clients_are_refused(anonymous: Managing) -> None:
    with pytest.raises(CommandError, match='There is no management client "Nobody"'):
        run("rotate_management_secret", "Nobody")


def test_an_exported_claim_set_is_imported(management: Managing) -> None:
    exported = json.loads("\n".join(run("export_claim_set", "sisvendor")))
    assert exported["claimSetName"] == "SISVendor"

    made = management.post("/v3/claimSets/import", exported | {"claimSetName": "Mine"}).json()

    again = management.get(f"/v3/claimSets/{made['id']}/export").json()
    assert again["resourceClaims"] == exported["resourceClaims"]
    with pytest.raises(CommandError, match='There is no claim set "Nothing"'):
        run("export_claim_set", "Nothing")


def test_the_deployment_check_warns_of_open_registration(configured, settings) -> None:
    settings.ALLOWED_HOSTS = ["edfi.example.org"]
    assert registration_is_closed() == []

    configured(MANAGEMENT_REGISTRATION=True)

    assert [warning.id for warning in registration_is_closed()] == ["management_api.W001"]

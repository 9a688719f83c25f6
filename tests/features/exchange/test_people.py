"""What people see of connections: commands, the admin, metrics."""

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

from edfi_api.core.data_stores.provisioning_state import DataStoreRouter
from edfi_api.core.security.models import ApiClient
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.exchange.models import Connection, ExchangePosition, Phase, WaitingDocument
from edfi_api.features.exchange.push.models import SentDocument
from edfi_api.features.exchange.stored_connections import report
from edfi_api.site.observability.metrics import exposition
from tests.features.exchange.district import District
from tests.features.exchange.reference_source import SECRET, ReferenceSource
from tests.support.databases import DOCUMENTS

Connect = Callable[..., Connection]
CONNECTIONS = "/admin/exchange/connection/"


@pytest.fixture
def added(source: ReferenceSource, client_here: ApiClient, settings, monkeypatch) -> Connection:
    settings.EDFI_API = settings.EDFI_API | {"STORE_KEYS": ("key of tests",)}
    monkeypatch.setenv("SECRET_OF_DISTRICT", SECRET)
    arguments = ["district", "pull", source.address, "--key", "district", "--client", client_here.client_id]
    call_command("add_connection", *arguments, "--secret-env", "SECRET_OF_DISTRICT", "--enable")
    return Connection.objects.get()


def test_a_connection_is_added_listed_and_checked_without_showing_its_secret(added, district: District, capsys) -> None:
    call_command("list_connections", "--format", "json")
    call_command("check_connection", "district")
    out = capsys.readouterr().out

    listed = json.loads(out[out.index("[") : out.index("]") + 1])
    assert (listed[0]["name"], listed[0]["direction"], listed[0]["enabled"]) == ("district", "pull", "yes")
    assert "Ed-Fi: 5.2.0 there, 5.2.0 here" in out
    assert "7 resources selected on both sides" in out
    assert "the remote API lacks: batches" in out
    assert SECRET not in out and SECRET not in added.secret and added.secret not in out
    with pytest.raises(CommandError, match="There is a connection of this name"):
        call_command(
            "add_connection",
            "DISTRICT",
            "pull",
            added.address,
            "--key",
            "k",
            "--client",
            added.api_client.client_id,
            "--secret-env",
            "SECRET_OF_DISTRICT",
        )


def test_pulling_is_reported_to_people(added, district: District, capsys) -> None:
    district.everything()
    district.enrollment(99)

    call_command("pull_changes", "district", "--processes", "0")

    assert "9 inserted, 1 refused up to change version 10" in capsys.readouterr().out
    state = added.state
    assert (state.phase, state.position, state.newest) == (Phase.IDLE, 10, 10)
    assert (state.accepted, state.refused, state.failure) == (9, 1, "")


def test_the_admin_shows_the_state_and_changes_all_but_the_secret(added, admin_client: Client) -> None:
    report(added, Phase.FAILED, failure="it answers 401", position=7, newest=1234)

    listed = admin_client.get(CONNECTIONS).content.decode()
    page = admin_client.get(f"{CONNECTIONS}{added.pk}/change/").content.decode()

    assert "failed since" in listed and "1,227 changes" in listed
    assert "it answers 401" in page
    assert SECRET not in page and added.secret not in page
    form = {name: value for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', page) if name[:1] != "_"}
    form |= {"direction": "pull", "selection": "all", "secret_text": "", "descriptor_mapping": "", "name": "other"}
    before = added.secret
    saved = admin_client.post(f"{CONNECTIONS}{added.pk}/change/", form)
    assert saved.status_code == 302, re.findall(r"errorlist[^<]*<li>([^<]*)", saved.content.decode())
    added.refresh_from_db()
    assert (added.name, added.secret) == ("other", before)


def test_following_is_begun_and_ended_in_the_admin(added, admin_client: Client) -> None:
    for action, expected in (("stop_following", False), ("follow", True)):
        admin_client.post(CONNECTIONS, {"action": action, "_selected_action": [added.pk]})
        added.refresh_from_db()
        assert added.is_enabled is expected


def test_following_is_begun_and_ended_by_a_command(added, capsys) -> None:
    for options, expected in ((["--disable"], False), ([], True)):
        call_command("enable_connection", "district", *options)
        added.refresh_from_db()
        assert added.is_enabled is expected
    assert capsys.readouterr().out.splitlines()[-1] == "district is followed by run_exchange"


def test_the_admin_says_that_a_name_is_taken(added, admin_client: Client) -> None:
    form = {"name": "District", "direction": "pull", "selection": "all", "address": added.address, "key": "key"}
    page = admin_client.post(f"{CONNECTIONS}add/", form | {"secret_text": "s", "api_client": added.api_client_id})

    assert "There is a connection of this name." in page.content.decode()


@pytest.mark.parametrize("is_in_admin", [True, False])
def test_a_removed_connection_leaves_nothing_behind(
    added, district: District, admin_client: Client, django_capture_on_commit_callbacks, is_in_admin: bool
) -> None:
    district.enrollment(0)
    call_command("pull_changes", "district", "--processes", "0")
    ChangeConsumer.objects.using(DOCUMENTS).create(name=f"push {added.pk}", log="documents")
    SentDocument.objects.using(DOCUMENTS).create(connection=added.pk, document_uuid=uuid4(), resource_type_id=1)
    left = (ChangeConsumer, ExchangePosition, WaitingDocument, SentDocument)
    assert all(model.objects.using(DOCUMENTS).exists() for model in left)

    with django_capture_on_commit_callbacks(execute=True):
        if is_in_admin:
            chosen = {"action": "delete_selected", "_selected_action": [added.pk], "post": "yes"}
            admin_client.post(CONNECTIONS, chosen)
        else:
            call_command("remove_connection", "district")

    assert not Connection.objects.exists()
    assert not any(model.objects.using(DOCUMENTS).exists() for model in left)


def test_metrics_have_the_lag_and_the_documents(added) -> None:
    report(added, Phase.RUNNING, position=7, newest=10, accepted=5, refused=2)
    report(added, Phase.RUNNING, accepted=1)

    text = exposition().decode()

    labels = 'connection="district",direction="pull"'
    assert f"meadowlark_exchange_lag_changes{{{labels}}} 3.0" in text
    assert f"meadowlark_exchange_failed{{{labels}}} 0.0" in text
    assert f'meadowlark_exchange_documents_total{{{labels},result="accepted"}} 6.0' in text
    assert f'meadowlark_exchange_documents_total{{{labels},result="refused"}} 2.0' in text


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"address": "ftp://example.org"}, "not an address"),
        ({"address": "https://user:secret@example.org"}, "User and password"),
        ({"descriptor_mapping": "nonsense"}, "Line 1"),
        ({"resources": ["ed-fi/students"]}, "selection other than all"),
    ],
)
def test_what_cannot_be_used_is_not_stored(connect: Connect, changes: dict[str, Any], problem: str) -> None:

    with pytest.raises(ValidationError, match=problem):
        Connection(**{**vars_of(connect()), "name": "other", **changes}).full_clean()


def vars_of(connection: Connection) -> dict[str, Any]:
    names = ("direction", "address", "key", "secret", "api_client")
    return {name: getattr(connection, name) for name in names}


@pytest.mark.parametrize(
    ("model", "is_in_stores"),
    [("connection", False), ("connectionstate", False), ("exchangeposition", True), ("waitingdocument", True)],
)
def test_databases_of_data_stores_have_positions_and_no_secrets(model: str, is_in_stores: bool) -> None:
    assert DataStoreRouter().allow_migrate("store_1_1", "exchange", model_name=model) is is_in_stores


def test_a_worker_is_started_for_each_enabled_connection(added, capsys) -> None:
    call_command("run_exchange", "--list")

    assert capsys.readouterr().out.splitlines()[-1] == "district: pull_changes"

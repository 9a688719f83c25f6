"""The audit log: denials and changes, without secrets."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client

from edfi_api.core.models import Document, ResourceType
from edfi_api.core.security.claims.file import fill_claims
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, ResourceClaim
from edfi_api.core.storage import store
from edfi_api.core.storage.write_requests import DeleteRequest
from edfi_api.features.changes.change_queries.models import DeletedDocument
from edfi_api.model.surface.resource import ResourceName, Surface
from tests.conftest import new_token
from tests.core.security.conftest import Send, basic
from tests.support.factories import DocumentFactory
from tests.support.logs import Log

pytestmark = pytest.mark.django_db


def facts(entry: dict[str, object], *names: str) -> dict[str, object]:
    return {name: entry.get(name) for name in names}


def test_a_denied_action_is_logged(client: Client, log: Log) -> None:
    token = new_token("Roster", "RosterVendor", key="roster-key")
    headers = {"Authorization": f"Bearer {token}", "correlationid": "ticket-7"}

    client.get("/data/ed-fi/surveys?surveyTitle=Private", headers=headers)

    entry = log.audit[-1]
    assert facts(entry, "event", "level", "status", "client", "method", "path", "correlation_id", "address") == {
        "event": "denied",
        "level": "WARNING",
        "status": 403,
        "client": "roster-key",
        "method": "GET",
        "path": "/data/ed-fi/surveys",
        "correlation_id": "ticket-7",
        "address": "127.0.0.1",
    }
    assert "Private" not in log.text


def test_the_path_of_a_request_is_truncated_and_quoted(client: Client, log: Log) -> None:
    path = '/data/ed-fi/a b"\x1b[31m status=200 '

    client.get(quote(path + "x" * 4000))

    entry = log.audit[-1]
    assert entry["path"] == (path + "x" * 200)[:200] + "..."
    assert r'path="/data/ed-fi/a b\"\u001b[31m status=200 x' in str(entry["message"])


def test_an_invalid_token_is_logged_without_its_value(client: Client, log: Log) -> None:
    client.get("/data/ed-fi/students", headers={"Authorization": "Bearer not-a-valid-token"})

    assert facts(log.audit[-1], "status", "reason", "client") == {
        "status": 401,
        "reason": "Invalid token",
        "client": None,
    }
    assert "not-a-valid-token" not in log.text


def test_a_refused_token_request_is_logged(request_token: Send, credentials: Credentials, log: Log) -> None:
    request_token(basic(f"{credentials.key}:wrong-secret"))
    request_token(basic("a-secret-in-the-wrong-place:key"))

    known, unknown = log.audit[-2:]
    assert facts(known, "status", "reason", "client") == {
        "status": 401,
        "reason": "invalid_client",
        "client": credentials.key,
    }
    assert unknown["client"] == "unknown"
    assert "wrong" not in log.text


def test_commands_are_logged(log: Log, tmp_path: Path) -> None:
    call_command("create_api_client", "Demo", "--claim-set=SISVendor", "--key=demo", stdout=StringIO())
    call_command("rotate_secret", "demo", stdout=StringIO())
    call_command("disable_api_client", "demo", stdout=StringIO())
    file = tmp_path / "claims.json"
    file.write_text(
        '{"claimSets": [{"name": "Ours", "grants": [{"claims": ["domains/people"], "actions": ["Read"]}]}]}'
    )
    call_command("load_claim_sets", str(file), stdout=StringIO())
    call_command("load_claim_sets", str(file), stdout=StringIO())

    assert [facts(entry, "event", "client", "claim_sets", "by") for entry in log.audit] == [
        {"event": "client created", "client": "demo", "claim_sets": None, "by": "command"},
        {"event": "secret rotated", "client": "demo", "claim_sets": None, "by": "command"},
        {"event": "client disabled", "client": "demo", "claim_sets": None, "by": "command"},
        {"event": "claims changed", "client": None, "claim_sets": "Ours", "by": "command"},
    ]


def test_the_claims_of_a_new_database_are_logged_in_a_short_line(log: Log, surface: Surface) -> None:
    ClaimSet.objects.all().delete()
    ResourceClaim.objects.update(parent=None)
    ResourceClaim.objects.all().delete()
    fill_claims(surface)

    assert facts(log.audit[-1], "event", "claim_sets", "by") == {
        "event": "claims changed",
        "claim_sets": None,
        "by": "migrate",
    }


Post = Callable[[str, dict[str, Any]], None]


@pytest.fixture
def post(client: Client, django_capture_on_commit_callbacks: Any) -> Post:
    """Posts a form of the admin and runs on-commit callbacks."""
    client.force_login(get_user_model().objects.create_superuser("operator"))

    def send(path: str, form: dict[str, Any]) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            client.post(f"/admin/{path}", form)

    return send


def test_changes_in_the_admin_are_logged(credentials: Credentials, log: Log, post: Post) -> None:
    api_client, claim_set = ApiClient.objects.get(), ClaimSet.objects.get(name="FullAccess")
    form = {"name": "New", "application": Application.objects.get().pk, "is_active": "on"}
    post("security/apiclient/add/", form)
    post(f"security/apiclient/{api_client.pk}/rotate-secret/", {})
    post("security/apiclient/", {"action": "disable", "_selected_action": [api_client.pk]})
    post(f"security/claimset/{claim_set.pk}/delete/", {"post": "yes"})

    done = [facts(entry, "event", "client", "object", "changes") for entry in log.audit]
    new = ApiClient.objects.get(name="New").client_id
    assert done == [
        {"event": "admin login", "client": None, "object": None, "changes": None},
        {"event": "admin addition", "client": new, "object": None, "changes": "Added."},
        {"event": "admin change", "client": credentials.key, "object": None, "changes": "Rotated the secret."},
        {"event": "admin change", "client": credentials.key, "object": None, "changes": "Disabled."},
        {"event": "admin deletion", "client": None, "object": "FullAccess", "changes": None},
    ]
    assert {entry["by"] for entry in log.audit} == {"admin:operator"}


def test_a_denied_action_in_the_admin_is_logged(client: Client, credentials: Credentials, log: Log) -> None:
    client.force_login(get_user_model().objects.create_user("helper", is_staff=True))
    pages = ["security/vendor/", f"security/apiclient/{ApiClient.objects.get().pk}/rotate-secret/"]

    for page in pages:
        assert client.post(f"/admin/{page}?q=Private").status_code == 403

    denials = [facts(entry, "event", "status", "user", "method", "path") for entry in log.audit[1:]]
    assert denials == [
        {"event": "denied", "status": 403, "user": "helper", "method": "POST", "path": f"/admin/{page}"}
        for page in pages
    ]
    assert "Private" not in log.text


def test_each_object_of_a_bulk_deletion_is_logged(log: Log, post: Post) -> None:
    users = [get_user_model().objects.create_user(name) for name in ("one", "two")]
    selected = {"_selected_action": [user.pk for user in users]}
    post("auth/user/", {"action": "delete_selected", "post": "yes", **selected})

    done = [(entry["event"], entry["by"], entry["object"]) for entry in log.audit[1:]]
    assert sorted(done) == [("admin deletion", "admin:operator", "one"), ("admin deletion", "admin:operator", "two")]


def test_a_refused_deletion_is_not_logged_as_a_deletion(log: Log, post: Post, documents: DocumentFactory) -> None:
    documents.store(documents.surface.by_name[ResourceName("Ed-Fi", "Student")])
    stored = Document.objects.get(resource_type__name="Student")
    ResourceType.objects.filter(name="Student").update(name="Pupil")
    post(f"edfi_api/document/{stored.pk}/delete/", {"post": "yes"})

    assert Document.objects.filter(pk=stored.pk).exists()
    assert log.audit[1:] == []


def test_a_deleted_document_is_logged_by_its_id(log: Log, post: Post, documents: DocumentFactory) -> None:
    """Its natural key could identify a person."""
    for is_one_of_several in (False, True):
        documents.store(documents.surface.by_name[ResourceName("Ed-Fi", "Student")])
        stored = Document.objects.get(resource_type__name="Student")
        if is_one_of_several:
            selected = {"_selected_action": [stored.pk]}
            post("edfi_api/document/", {"action": "delete_selected", "post": "yes", **selected})
        else:
            post(f"edfi_api/document/{stored.pk}/delete/", {"post": "yes"})

        assert facts(log.audit[-1], "event", "document", "object", "by") == {
            "event": "admin deletion",
            "document": str(stored.document_uuid),
            "object": None,
            "by": "admin:operator",
        }
        assert stored.natural_key not in log.text


def test_restoring_and_purging_are_logged(log: Log, post: Post, documents: DocumentFactory) -> None:
    student = documents.surface.by_name[ResourceName("Ed-Fi", "Student")]
    documents.store(student)
    stored = Document.objects.get(resource_type__name="Student")
    store.delete(DeleteRequest(student, stored.document_uuid, using="default"))
    deleted = DeletedDocument.objects.get()
    post("change_queries/deleteddocument/", {"action": "restore", "_selected_action": [deleted.pk]})
    store.delete(DeleteRequest(student, stored.document_uuid, using="default"))
    call_command("restore_document", str(stored.document_uuid), stdout=StringIO())
    call_command("purge_changes", "--days=0", stdout=StringIO())

    in_admin, by_command, purge = log.audit[1:]
    assert facts(in_admin, "event", "document", "object", "changes", "by") == {
        "event": "admin change",
        "document": str(stored.document_uuid),
        "object": None,
        "changes": "Restored.",
        "by": "admin:operator",
    }
    assert facts(by_command, "event", "document") == {
        "event": "document restored",
        "document": str(stored.document_uuid),
    }
    assert facts(purge, "event", "bodies", "by") == {"event": "changes purged", "bodies": 2, "by": "command"}


def test_failed_logins_are_logged_without_the_typed_values(client: Client, log: Log) -> None:
    get_user_model().objects.create_superuser("operator", password="correct horse battery")
    client.post("/admin/login/", {"username": "operator", "password": "hunter2hunter2"})
    client.post("/admin/login/", {"username": "hunter2hunter2", "password": ""})
    client.post("/admin/login/", {"username": "hunter2hunter2", "password": "x"})

    assert [entry.get("user") for entry in log.audit] == ["operator", "unknown"]
    assert "hunter2" not in log.text


def test_no_secret_and_no_token_is_ever_logged(client: Client, request_token: Send, log: Log) -> None:
    """With everything logged at DEBUG: creation, use and removal of a client, valid and invalid requests."""
    made = create_client("Demo", "SISVendor")
    token = request_token(basic(f"{made.key}:{made.secret}")).json()["access_token"]
    request_token(client_id=made.key, client_secret=made.secret, scope="9")
    request_token(basic(f"{made.secret}:{made.key}"))
    for method, path in (("get", "students"), ("post", "students"), ("delete", "schools/nonsense"), ("put", "x")):
        for header in (f"Bearer {token}", f"Bearer {token}x", f"Basic {token}", token):
            getattr(client, method)(f"/data/ed-fi/{path}", headers={"Authorization": header})
    client.post("/oauth/token_info", {"token": token}, headers={"Authorization": f"Bearer {token}"})
    client.post("/oauth/token_info", {"token": token}, headers={"Authorization": "Bearer other"})
    rotated = StringIO()
    call_command("rotate_secret", "Demo", stdout=rotated)

    assert log.audit
    for hidden in (made.secret, token, rotated.getvalue().split()[-1], ApiClient.objects.get().client_secret):
        assert hidden not in log.text


def test_a_client_cannot_forge_a_log_line(client: Client, log: Log) -> None:
    client.get("/data/ed-fi/a%22%20event=forged", headers={"correlationid": "x\nevent=forged"})

    assert len(log.audit) == 1
    assert '"/data/ed-fi/a\\" event=forged"' in log.audit[0]["message"]

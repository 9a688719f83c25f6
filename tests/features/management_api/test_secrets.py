"""Secrets are in exactly the answers that make them, and every change is one line of the audit log."""

from typing import Any

from django.db import connection

from tests.features.management_api.managing import APPLICATION, SECRET, VENDOR, Managing
from tests.support.logs import Log

PASSWORD = "not-to-be-shown"
CONNECTION = f"host=db7 dbname=lakeside password={PASSWORD}"


def test_no_secret_is_answered_logged_or_stored_again(management: Managing, vendor: int, log: Log) -> None:
    made = management.post("/v3/applications", APPLICATION | {"vendorId": vendor}).json()
    reset = management.put(f"/v3/applications/{made['id']}/reset-credential").json()
    store = management.post("/v3/dataStores", {"dataStoreType": "x", "name": "x", "connectionString": CONNECTION})
    secrets = {made["secret"], reset["secret"], PASSWORD, SECRET}
    Managing().form("/connect/token", client_id="operator", client_secret=SECRET, grant_type="client_credentials")

    answers = [
        management.get(f"/{path}").content.decode()
        for path in (
            "v3/applications",
            "v3/apiClients",
            f"v3/apiClients/{made['key']}",
            "v3/dataStores",
            f"v3/dataStores/{store.json()['id']}",
            "v2/odsInstances",
            f"v2/odsInstances/{store.json()['id']}",
            "v2/apiclients",
        )
    ]
    answers.append(management.put("/v3/applications/1", {"applicationName": made["secret"]}).content.decode())
    written = log.text
    stored = _everything_stored()

    assert [secret for secret in secrets if any(secret in answer for answer in answers)] == []
    assert [secret for secret in secrets if secret in written] == []
    assert [secret for secret in secrets if secret in stored] == []
    assert management.token not in written


def _everything_stored() -> str:
    tables = ("security_apiclient", "management_api_managementclient", "management_api_managementtoken", "data_store")
    with connection.cursor() as cursor:
        found = []
        for table in tables:
            cursor.execute(f"SELECT t::text FROM {table} t")  # noqa: S608  Names of our own.
            found += [text for (text,) in cursor.fetchall()]
    return "\n".join(found)


def _audited(log: Log) -> list[tuple[Any, ...]]:
    return [(line["event"], line.get("by")) for line in log.audit]


def test_changes_and_denials_are_audited(management: Managing, log: Log) -> None:
    management.post("/v3/vendors", VENDOR)
    management.post("/v3/claimSets", {"claimSetName": "Mine"})
    Managing().get("/v3/vendors")

    assert _audited(log) == [("vendor created", "operator"), ("claim set created", "operator"), ("denied", None)]
    assert log.audit[0]["members"] == "company,contactName,contactEmailAddress,namespacePrefixes"
    assert "Lakeside" not in log.text


def test_a_change_is_audited_with_the_members_that_are_another(management: Managing, vendor: int, log: Log) -> None:
    made = management.post("/v3/applications", APPLICATION | {"vendorId": vendor}).json()
    store = management.post(
        "/v3/dataStores", {"dataStoreType": "x", "name": "x", "connectionString": CONNECTION}
    ).json()
    [client] = management.get("/v3/apiClients").json()
    application = APPLICATION | {"id": made["id"], "vendorId": vendor}
    derivative = {"dataStoreId": store["id"], "derivativeType": "Snapshot"}
    part = management.post("/v3/dataStoreDerivatives", derivative | {"connectionString": CONNECTION}).json()["id"]
    before = len(log.audit)

    management.put(f"/v3/vendors/{vendor}", VENDOR | {"id": vendor, "company": "Lake", "contactName": "Other"})
    management.put(f"/v3/vendors/{vendor}", VENDOR | {"id": vendor, "company": "Lake", "contactName": "Other"})
    management.put(f"/v3/applications/{made['id']}", application | {"educationOrganizationIds": []})
    management.put(f"/v3/apiClients/{client['id']}", client | {"name": "Another", "dataStoreIds": [store["id"]]})
    other_password = CONNECTION.replace(PASSWORD, "another")
    management.put(f"/v3/dataStores/{store['id']}", {"id": store["id"], "dataStoreType": "y", "name": "x"})
    changed = derivative | {"id": part, "connectionString": other_password}
    management.put(f"/v3/dataStoreDerivatives/{part}", changed)
    management.put(f"/v2/vendors/{vendor}", VENDOR)

    assert [(line["event"], line.get("members")) for line in log.audit[before:]] == [
        ("vendor changed", "company,contactName"),
        ("vendor changed", None),
        ("application changed", "educationOrganizationIds"),
        ("API client changed", "name,dataStoreIds"),
        ("data store changed", "dataStoreType"),
        ("data store derivative changed", "connectionString"),
        ("vendor changed", "company,contactName"),
    ]

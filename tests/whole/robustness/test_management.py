"""Changes by the management API count in all workers of a server within the time for which these remember tokens."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.whole.robustness.real_server import RealClient, RealServer
from tests.whole.robustness.waiting import wait_until

URI = "http://ed-fi.org/identity/claims/"
DESCRIPTOR = {
    "namespace": "uri://lakeside.example/SexDescriptor",
    "codeValue": "F",
    "shortDescription": "F",
}
VENDOR = {
    "company": "Of the workers",
    "namespacePrefixes": "uri://lakeside.example",
    "contactName": "Mae Ortiz",
    "contactEmailAddress": "mae@lakeside.example",
}


class Everywhere:
    """A client with a connection to each worker."""

    def __init__(self, server: RealServer, token: str, until_end: ExitStack) -> None:
        self._clients: list[RealClient] = []

        def reaches_all_workers() -> bool:
            client = until_end.enter_context(closing(RealClient(server.port, token)))
            assert client.send("GET", "/data/ed-fi/students").status == 200
            self._clients.append(client)
            ports = {each._connection.sock.getsockname()[1] for each in self._clients}
            return all(
                any(held.raddr and held.raddr.port in ports for held in worker.net_connections("tcp"))
                for worker in server.workers()
            )

        wait_until(reaches_all_workers, 30, "one worker took all connections")

    def statuses(self, method: str, path: str, body: object = None) -> set[int]:
        return {client.send(method, f"/data/ed-fi/{path}", body).status for client in self._clients}


@pytest.fixture(scope="module")
def manage(real_server: RealServer) -> Callable[..., Any]:
    """Sends JSON to the management API."""
    printed = real_server.manage("create_management_client", "of-workers").decode().split()
    form = {"client_id": printed[1], "client_secret": printed[3], "grant_type": "client_credentials"}
    token = token_for(real_server, form)

    def send(method: str, path: str, body: object) -> Any:
        with closing(RealClient(real_server.port, token)) as client:
            answer = client.send(method, f"/config/v3/{path}", body)
        assert answer.status < 300, answer
        return json.loads(answer.body) if answer.body else answer.headers

    return send


def token_for(server: RealServer, form: dict[str, str]) -> str:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/config/connect/token", urlencode(form), headers)
        return json.loads(connection.getresponse().read())["access_token"]


def granting(*actions: str) -> dict[str, Any]:
    """The import of a claim set that grants these actions on students, and the creation of descriptors."""
    open_to_all = [
        {"actionName": name, "authorizationStrategies": [{"name": "NoFurtherAuthorizationRequired"}]}
        for name in actions
    ]
    students = {"claimName": f"{URI}ed-fi/student", "actions": [{"name": name} for name in actions]}
    descriptors = {
        "claimName": f"{URI}ed-fi/sexDescriptor",
        "actions": [{"name": "Create"}],
        "authorizationStrategyOverrides": [
            {"actionName": "Create", "authorizationStrategies": [{"name": "NamespaceBased"}]}
        ],
    }
    claims = [students | {"authorizationStrategyOverrides": open_to_all}, descriptors]
    return {"claimSetName": "OfWorkers", "resourceClaims": claims}


@pytest.fixture
def end() -> Iterator[ExitStack]:
    with ExitStack() as until_end:
        yield until_end


def test_changes_count_in_all_workers(real_server: RealServer, manage: Callable[..., Any], end: ExitStack) -> None:
    assert len(real_server.workers()) == 2
    manage("POST", "claimSets/import", granting("Read"))
    vendor = int(manage("POST", "vendors", VENDOR)["Location"].rpartition("/")[2])
    body = {"applicationName": "Of the workers", "vendorId": vendor, "claimSetName": "OfWorkers"}
    made = manage("POST", "applications", body)
    form = {"client_id": made["key"], "client_secret": made["secret"], "grant_type": "client_credentials"}
    everywhere = Everywhere(real_server, token_for(real_server, form), end)

    def comes_to(status: int, *request: Any) -> None:
        """Within the time of the cache, and a second for the requests themselves."""
        wait_until(lambda: everywhere.statuses(*request) == {status}, real_server.TOKEN_CACHE_SECONDS + 1)

    assert everywhere.statuses("POST", "sexDescriptors", DESCRIPTOR) <= {200, 201}
    manage("PUT", f"vendors/{vendor}", VENDOR | {"id": vendor, "namespacePrefixes": "uri://other.example"})
    comes_to(403, "POST", "sexDescriptors", DESCRIPTOR)

    assert everywhere.statuses("GET", "students") == {200}
    manage("POST", "claimSets/import", granting("Create"))
    comes_to(403, "GET", "students")

    manage("POST", "claimSets/import", granting("Read"))
    comes_to(200, "GET", "students")
    client = manage("GET", f"apiClients/{made['key']}", None)
    store = manage("POST", "dataStores", {"dataStoreType": "x", "name": "x"})["id"]
    manage("PUT", f"apiClients/{client['id']}", client | {"dataStoreIds": [store]})
    # That data store has no database.
    comes_to(503, "GET", "students")
    manage("PUT", f"apiClients/{client['id']}", client | {"dataStoreIds": [store], "isApproved": False})
    comes_to(401, "GET", "students")
    manage("DELETE", f"vendors/{vendor}", None)
    manage("DELETE", f"dataStores/{store}", None)

"""What proxies say about a request, in the spellings of real ones."""

import http.client
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edfi_api.common.logs.remote_address import remote_address, subscriber
from tests.whole.robustness.real_server import RealServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]) -> Iterator[RealServer]:
    home = prepared_home(tmp_path_factory.mktemp("server") / "home")
    with RealServer(
        home, MEADOWLARK_BEHIND_PROXY="true", MEADOWLARK_ALLOWED_HOSTS="localhost,127.0.0.1,sis.example"
    ) as it:
        yield it


def get(server: RealServer, **headers: str) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/", headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    return response.status, body


@pytest.mark.parametrize("scheme", ["https", "HTTPS", " https ", "https, http", "https,https", '"https"'])
@pytest.mark.parametrize("host", ["sis.example", "SIS.example", "sis.example, inner", '"sis.example"'])
def test_scheme_and_host_are_those_of_the_outermost_proxy(server: RealServer, scheme: str, host: str) -> None:
    status, found = get(server, X_Forwarded_Proto=scheme, X_Forwarded_Host=host)

    assert status == 200
    assert found["urls"]["dataManagementApi"] == "https://sis.example/data"  # type: ignore[index]


@pytest.mark.parametrize("scheme", ["http", "http, https", "", "wss"])
def test_other_schemes_are_not_https(server: RealServer, scheme: str) -> None:
    _, found = get(server, X_Forwarded_Proto=scheme, X_Forwarded_Host="sis.example")

    assert found["urls"]["dataManagementApi"] == "http://sis.example/data"  # type: ignore[index]


def test_the_header_of_a_refused_host_is_named(server: RealServer) -> None:
    status, found = get(server, X_Forwarded_Host="elsewhere.example")

    assert status == 400
    assert found["hints"][0].startswith("X-Forwarded-Host: elsewhere.example was sent.")  # type: ignore[index]


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("203.0.113.9:17085", "203.0.113.9"),
        ('"203.0.113.9:17085"', "203.0.113.9"),
        (" 203.0.113.9 , ", "203.0.113.9"),
        ("198.51.100.4:443, 203.0.113.9:17085", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("[::ffff:203.0.113.9]:80", "203.0.113.9"),
        ("2001:db8::7", "2001:db8::7"),
        ("2001:DB8:0::7", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ('"[2001:db8::7]:4711"', "2001:db8::7"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%25eth0]:80", "fe80::1"),
        ("unknown", "10.0.0.1"),
        ("_hidden:80", "10.0.0.1"),
        ("203.0.113.9:port", "10.0.0.1"),
        ("", "10.0.0.1"),
    ],
)
def test_an_address_has_one_form(rf, settings, forwarded: str, address: str) -> None:
    settings.EDFI_API = settings.EDFI_API | {"BEHIND_PROXY": True}

    request = rf.get("/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=forwarded)

    assert remote_address(request) == address


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_rate_limits_count_a_subscriber(address: str, counted: str) -> None:
    assert subscriber(address) == counted


def test_failures_from_an_address_with_a_port_do_not_lock_out_others(client, db, settings) -> None:
    settings.EDFI_API = settings.EDFI_API | {"BEHIND_PROXY": True, "TOKEN_REQUESTS_PER_MINUTE": 3}
    form = {"grant_type": "client_credentials", "client_id": "x", "client_secret": "y"}

    def status(address: str) -> int:
        answer = client.post("/oauth/token", form, content_type="application/json", HTTP_X_FORWARDED_FOR=address)
        return int(answer.status_code)

    assert [status(f"203.0.113.9:{port}") for port in range(5000, 5004)] == [401, 401, 401, 429]
    assert [status("203.0.113.10:5000"), status("[2001:db8::7]:1"), status("::ffff:203.0.113.11")] == [401] * 3

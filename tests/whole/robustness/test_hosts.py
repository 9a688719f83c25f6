"""Unknown hosts are refused except at health endpoints, without tracebacks in the log."""

import http.client
import json
import socket

import pytest

OTHER_HOSTS = ["10.4.2.17:8000", "evil.example", "bad host", "[", ""]

NOT_ALLOWED = "The host that the request names is not one by which this server answers."
MALFORMED = "The host that the request names is malformed."


def get(server, path, host):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", path, headers={"Host": host})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


@pytest.mark.parametrize("host", OTHER_HOSTS[:-1])
@pytest.mark.parametrize("path", ["/", "/data/ed-fi/students", "/oauth/token", "/admin/", "/metrics", "/healthy"])
def test_a_host_outside_allowed_hosts_is_refused(real_server, path, host):
    status, body = get(real_server, path, host)

    assert status == 400
    problem = json.loads(body)
    assert problem["type"] == "urn:ed-fi:api:bad-request"
    assert problem["errors"] == [MALFORMED if host in ("bad host", "[") else NOT_ALLOWED]
    assert "Traceback" not in real_server.log.read_text()


@pytest.mark.parametrize(
    ("host", "error", "hint"),
    [
        (
            "ed_fi_api:8000",
            MALFORMED,
            "Host: ed_fi_api:8000 was sent. A host name has letters, digits, hyphens and dots",
        ),
        ("edfi.district.example", NOT_ALLOWED, "MEADOWLARK_ALLOWED_HOSTS"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/data/ed-fi/students"])
def test_the_answer_says_what_is_wrong_with_a_host(real_server, path, host, error, hint):
    status, body = get(real_server, path, host)

    problem = json.loads(body)
    assert (status, problem["errors"]) == (400, [error])
    assert hint in problem["hints"][0]


@pytest.mark.parametrize(("version", "status"), [("1.1", 400), ("1.0", 200)])
def test_http_1_1_needs_a_host(real_server, version, status):
    with socket.create_connection(("127.0.0.1", real_server.port), timeout=30) as connection:
        connection.sendall(f"GET /health/live HTTP/{version}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))

    assert int(answer.split()[1]) == status


@pytest.mark.parametrize("host", OTHER_HOSTS)
@pytest.mark.parametrize("path", ["/health", "/health/", "/health/live", "/health/ready", "/Health/Ready"])
def test_a_health_probe_is_answered_for_any_host(real_server, path, host):
    status, body = get(real_server, path, host)

    assert (status, json.loads(body)["Status"]) == (200, "Healthy")


def test_a_health_probe_is_not_redirected_to_https(client, settings, db):
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["edfi.example.org"]
    settings.SECURE_REDIRECT_EXEMPT = [r"^(?i:health|metrics)(?:/|$)"]

    assert client.get("/health/live", headers={"Host": "10.4.2.17"}).status_code == 200
    assert client.get("/", headers={"Host": "edfi.example.org"}).status_code == 301

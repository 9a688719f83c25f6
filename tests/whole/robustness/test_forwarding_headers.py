"""Forwarded headers sent by a client instead of a proxy."""

import http.client
import json

import pytest

from meadowlark.serving.lean_handler import LeanHandler

# The tests connect from loopback, which gunicorn trusts by default.
SCHEMES = {"X-Forwarded-Proto": "https", "X-Forwarded-Protocol": "ssl", "X-Forwarded-Ssl": "on"}


def get(server, path, **headers):
    """On a new connection, so that any thread may serve it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


@pytest.mark.parametrize("name", ["SCRIPT_NAME", "PATH_INFO", "Script-Name", "Path-Info"])
def test_a_client_cannot_move_the_path(real_server, name):
    unrelated, _ = get(real_server, "/health/live", **{name: "/evil"})
    below, _ = get(real_server, "/evil/health/live", **{name: "/evil"})

    assert unrelated.status == 200
    assert below.status == 404, "a path rule of a proxy that forbids /health would be passed"


def test_a_script_name_header_does_not_affect_the_login_of_others(real_server):
    for _ in range(16):
        get(real_server, "/evil/health/live", SCRIPT_NAME="/evil")
    found = {get(real_server, "/admin/")[0].headers["Location"] for _ in range(32)}

    assert found == {"/admin/login/?next=/admin/"}


def test_the_prefix_of_a_request_does_not_outlive_it(rf):
    """Operators may serve Meadowlark below a prefix, which WSGI servers pass as SCRIPT_NAME."""
    handler, started = LeanHandler(), []

    def login(**prefix):
        handler(rf.get("/admin/", **prefix).environ, lambda status, headers: started.append(dict(headers)))
        return started.pop()["Location"]

    assert login(SCRIPT_NAME="/edfi") == "/edfi/admin/login/?next=/edfi/admin/"
    assert login() == "/admin/login/?next=/admin/"


@pytest.mark.parametrize("name", SCHEMES)
def test_a_client_cannot_claim_to_have_come_by_https(real_server, name):
    _, body = get(real_server, "/", **{name: SCHEMES[name]})

    assert json.loads(body)["urls"]["oauth"] == f"http://127.0.0.1:{real_server.port}/oauth/token"

"""Production settings, cookies, security headers, and the path of the admin."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

TOP = Path(__file__).parents[3]
PRODUCTION = {
    "MEADOWLARK_HTTPS": "true",
    "MEADOWLARK_BEHIND_PROXY": "true",
    "MEADOWLARK_ALLOWED_HOSTS": "api.example.org",
    "MEADOWLARK_SECRET_KEY": "",
    "MEADOWLARK_DEBUG": "",
}
# Sends requests in a subprocess, since settings are read once.
PROGRAM = """
import json, sys
import django
django.setup()
from django.test import Client
answers = []
for path, headers in json.loads(sys.argv[1]):
    answer = Client(raise_request_exception=False).get(path, headers={"Host": "api.example.org", **headers})
    answers.append({"status": answer.status_code, "headers": dict(answer.headers), "text": answer.content.decode(),
                    "cookies": {name: dict(cookie.items()) for name, cookie in answer.cookies.items()}})
print(json.dumps(answers, default=str))
"""


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "meadowlark.settings"} | PRODUCTION | variables
    return subprocess.run(
        [sys.executable, *arguments], cwd=TOP, env=environment, capture_output=True, text=True, check=False
    )


def responses_of(*requests: tuple[str, dict[str, str]], **variables: str) -> list[dict]:
    done = run("-c", PROGRAM, json.dumps(requests), **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


HTTPS = {"X-Forwarded-Proto": "https"}


def test_the_production_settings_pass_djangos_deployment_checks() -> None:
    done = run("manage.py", "check", "--deploy", "--fail-level", "WARNING")

    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_https_is_enforced_and_the_admin_can_be_moved() -> None:
    plain, health, login, old = responses_of(
        ("/data/ed-fi/students", {}),
        ("/health/live", {}),
        ("/office/login/", HTTPS),
        ("/admin/login/", HTTPS),
        MEADOWLARK_ADMIN_PATH="office",
    )

    assert (plain["status"], plain["headers"]["Location"]) == (301, "https://api.example.org/data/ed-fi/students")
    assert health["status"] == 200
    assert login["status"] == 200
    assert login["headers"]["Strict-Transport-Security"] == "max-age=31536000"
    assert login["cookies"]["csrftoken"]["secure"] is True
    assert "default-src 'none'" in login["headers"]["Content-Security-Policy"]
    assert old["status"] == 404


@pytest.mark.long
def test_the_admin_can_be_removed() -> None:
    admin, root, home = responses_of(
        ("/admin/", HTTPS), ("/admin/login/", HTTPS), ("/", HTTPS | {"Accept": "text/html"}), MEADOWLARK_ADMIN_PATH=""
    )

    assert (admin["status"], root["status"], home["status"]) == (404, 404, 200)
    assert "Administration" not in home["text"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/docs", "/admin/", "/admin/login/", "/admin/security/claimset/"])
def test_pages_load_only_the_servers_own_files(client: Client, path: str) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator"))

    answer = client.get(path, headers={"Accept": "text/html"})

    page = answer.content.decode()
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert "<style" not in page
    assert " style=" not in page
    assert not any(line.strip().startswith("<script>") for line in page.splitlines())


@pytest.mark.django_db
def test_the_admin_refuses_frames_and_its_cookies_are_http_only(client: Client) -> None:
    user = get_user_model().objects.create_superuser("operator", password="correct horse battery")

    answer = client.post("/admin/login/", {"username": user.username, "password": "correct horse battery"})

    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer.cookies["sessionid"]["httponly"]
    assert answer.cookies["sessionid"]["samesite"] == "Lax"

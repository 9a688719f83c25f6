"""Rate limits of token requests and logins."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from pytest_django import Settings

from edfi_api.core.security import rate_limits
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.rate_limits import count_towards_limit
from tests.core.security.conftest import Send, basic

pytestmark = pytest.mark.django_db


@pytest.fixture
def limits(settings: Settings):
    def set_to(**values: object) -> None:
        settings.EDFI_API = {**settings.EDFI_API, **values}

    return set_to


def test_tokens_of_a_client_are_limited(request_token: Send, basic_header: str, limits) -> None:
    limits(TOKENS_PER_MINUTE=3)
    assert [request_token(basic_header).status_code for _ in range(3)] == [200, 200, 200]

    refused = request_token(basic_header)

    problem = refused.json()
    assert refused.status_code == 429
    assert refused["Content-Type"] == "application/problem+json"
    assert 1 <= int(refused["Retry-After"]) <= 20
    assert problem.pop("correlationId")
    assert problem.pop("hints")[0].startswith("Wait ")
    assert problem == {
        "detail": "The number of allowed requests has been exceeded. Retry the request later.",
        "type": "urn:ed-fi:api:too-many-requests",
        "title": "Too Many Requests",
        "status": 429,
        "validationErrors": {},
        "errors": [],
    }


def test_other_clients_are_not_limited(request_token: Send, basic_header: str, limits) -> None:
    limits(TOKENS_PER_MINUTE=1)
    other = create_client("Other", "SISVendor")
    request_token(basic_header)

    assert request_token(basic_header).status_code == 429
    assert request_token(basic(f"{other.key}:{other.secret}")).status_code == 200


def test_wrong_secrets_do_not_count_for_the_client(
    request_token: Send, basic_header: str, credentials: Credentials, limits
) -> None:
    limits(TOKENS_PER_MINUTE=1)
    for _ in range(5):
        assert request_token(basic(f"{credentials.key}:wrong")).status_code == 401

    assert request_token(basic_header).status_code == 200


def test_token_requests_are_limited_by_address(request_token: Send, basic_header: str, limits) -> None:
    limits(TOKEN_REQUESTS_PER_MINUTE=3)
    assert [request_token("Basic nonsense").status_code for _ in range(3)] == [400, 400, 400]

    assert request_token(basic_header).status_code == 429


@pytest.mark.parametrize(
    ("is_behind_proxy", "forwarded", "statuses"),
    [
        (False, ["198.51.100.1", "198.51.100.2"], [401, 429]),
        (True, ["198.51.100.1", "198.51.100.2"], [401, 401]),
        (True, ["6.6.6.6, 198.51.100.1", "6.6.6.7, 198.51.100.1"], [401, 429]),
        (True, ["2001:db8::1", "2001:db8::2"], [401, 429]),
        (True, ["nonsense\0", "nonsense\0"], [401, 429]),
    ],
)
def test_the_address_of_a_client_behind_proxies(
    client: Client, limits, is_behind_proxy: bool, forwarded: list[str], statuses: list[int]
) -> None:
    limits(TOKEN_REQUESTS_PER_MINUTE=1, BEHIND_PROXY=is_behind_proxy)

    answers = [client.post("/oauth/token", headers={"X-Forwarded-For": each}) for each in forwarded]

    assert [answer.status_code for answer in answers] in (statuses, [400 if s == 401 else s for s in statuses])


def test_a_bucket_is_refilled() -> None:
    assert [count_towards_limit("one", 60) for _ in range(61)] == [0] * 60 + [1]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE rate_limit SET full_at = full_at - %s", [timedelta(seconds=2)])

    assert [count_towards_limit("one", 60) for _ in range(3)] == [0, 0, 1]


def test_full_buckets_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "_HAPPENINGS_PER_CLEANING", 1)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO rate_limit VALUES ('old', now() - interval '1 minute')")

        count_towards_limit("new", 60)

        cursor.execute("SELECT name FROM rate_limit")
        assert cursor.fetchall() == [("new",)]


@pytest.mark.usefixtures("transactional_db")
def test_threads_with_separate_connections_share_a_limit() -> None:
    def take(_: int) -> int:
        try:
            return count_towards_limit("together", 10)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        waits = list(threads.map(take, range(40)))

    assert waits.count(0) == 10


def test_password_attempts_in_the_admin_are_limited(client: Client, limits) -> None:
    limits(LOGINS_PER_MINUTE=2)
    get_user_model().objects.create_superuser("operator", password="correct horse battery")
    for _ in range(2):
        client.post("/admin/login/", {"username": "operator", "password": "wrong"})

    right = {"username": "operator", "password": "correct horse battery"}
    refused = client.post("/admin/login/", right)

    assert "Too many attempts to log in. Try again in" in refused.content.decode()
    limits(LOGINS_PER_MINUTE=0)
    assert client.post("/admin/login/", right).status_code == 302


def test_password_attempts_are_limited_by_user_name(client: Client, limits) -> None:
    limits(LOGINS_PER_USER_AND_MINUTE=2, BEHIND_PROXY=True)
    form = {"username": "Operator", "password": "wrong"}
    addresses = ["198.51.100.1", "198.51.100.2", "198.51.100.3"]

    pages = [
        client.post("/admin/login/", form, headers={"X-Forwarded-For": address}).content.decode()
        for address in addresses
    ]

    assert ["Too many attempts" in page for page in pages] == [False, False, True]

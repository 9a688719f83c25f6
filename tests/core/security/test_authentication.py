"""Bearer tokens on a protected route: acceptance, reasons of refusals, and number of queries."""

from datetime import datetime, timedelta
from threading import Thread

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oauth2_provider.models import AccessToken
from pytest_django import DjangoAssertNumQueries, Settings

from edfi_api.core.security.clients import rotate_secret
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.requests import authentication
from edfi_api.core.security.requests.authentication import client_of_token
from tests.core.security.conftest import Send
from tests.support.examples import examples

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.core.security.urls")]


def cache_tokens_for(settings: Settings, seconds: int) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "TOKEN_CACHE_SECONDS": seconds}


def let_time_pass(monkeypatch: pytest.MonkeyPatch, **span: float) -> None:
    later = timezone.now() + timedelta(**span)
    monkeypatch.setattr(timezone, "now", lambda: later)
    monkeypatch.setattr(authentication, "time", later.timestamp)


def test_a_token_identifies_the_caller(get_caller: Send, token: str, credentials: Credentials) -> None:
    response = get_caller(f"Bearer {token}")

    assert response.status_code == 200
    assert response.json() == {
        "key": credentials.key,
        "name": "Lakeside SIS",
        "claimSet": "SISVendor",
        "educationOrganizationIds": [255901, 255902],
        "namespacePrefixes": ["uri://ed-fi.org", "uri://lakeside.example"],
    }


def test_a_token_with_a_scope_is_narrowed_to_that_organization(
    request_token: Send, get_caller: Send, basic_header: str
) -> None:
    token = request_token(basic_header, scope="255902").json()["access_token"]

    assert get_caller(f"Bearer {token}").json()["educationOrganizationIds"] == [255902]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_case_insensitive(get_caller: Send, token: str, scheme: str) -> None:
    assert get_caller(f"{scheme} {token}").status_code == 200


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (None, "Authorization header is missing."),
        ("", "Authorization header is missing."),
        ("  ", "Authorization header is missing."),
        ("Basic a2V5OnNlY3JldA==", "Unknown Authorization header scheme."),
        ("a-token-without-scheme", "Unknown Authorization header scheme."),
        ("Bearer", "Missing Authorization header bearer token value."),
        ("Bearer  ", "Missing Authorization header bearer token value."),
        ("Bearer two words", "Invalid Authorization header."),
        ('Bearer "quoted"', "Invalid Authorization header."),
        ("Bearer =", "Invalid Authorization header."),
        ("(Bearer) abc", "Invalid Authorization header."),
        ("Bearer,abc", "Invalid Authorization header."),
        ("Bearer unknown", "Invalid token"),
        ("Bearer eyJhbGciOiJub25lIn0.e30.", "Invalid token"),
    ],
)
def test_a_refusal_has_its_reason(get_caller: Send, header: str | None, reason: str) -> None:
    response = get_caller(header)

    assert response.status_code == 401
    assert response.json() == {"reason": reason}


def test_the_checksum_of_a_token_is_not_a_token(get_caller: Send, token: str) -> None:
    stored = AccessToken.objects.get()

    assert stored.token == ""
    assert get_caller(f"Bearer {stored.token_checksum}").status_code == 401


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    header=st.text(st.characters(max_codepoint=255)) | st.text(st.characters(max_codepoint=255)).map("Bearer {}".format)
)
def test_any_invalid_header_is_401(client: Client, header: str) -> None:
    response = client.get("/who-am-i", headers={"Authorization": header})

    assert response.status_code == 401


def test_a_cached_token_costs_no_query(
    get_caller: Send, token: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        get_caller(f"Bearer {token}")

    with django_assert_num_queries(0):
        assert get_caller(f"Bearer {token}").status_code == 200


def test_an_unknown_token_costs_a_query_each_time(
    get_caller: Send, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        get_caller("Bearer unknown")
        get_caller("Bearer unknown")


def test_a_malformed_header_costs_no_query(get_caller: Send, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert get_caller("Bearer two words").status_code == 401


def test_a_token_is_looked_up_again_after_the_time_set(
    get_caller: Send,
    token: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    cache_tokens_for(settings, seconds=10)
    get_caller(f"Bearer {token}")

    let_time_pass(monkeypatch, seconds=9)
    with django_assert_num_queries(0):
        get_caller(f"Bearer {token}")

    let_time_pass(monkeypatch, seconds=2)
    with django_assert_num_queries(1):
        get_caller(f"Bearer {token}")


def test_with_zero_seconds_every_request_looks_up(
    get_caller: Send, token: str, settings: Settings, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    cache_tokens_for(settings, seconds=0)

    with django_assert_num_queries(2):
        assert get_caller(f"Bearer {token}").status_code == 200
        assert get_caller(f"Bearer {token}").status_code == 200


def test_a_cached_token_expires_on_time(
    get_caller: Send, token: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache_tokens_for(settings, seconds=1_000_000)
    assert get_caller(f"Bearer {token}").status_code == 200

    let_time_pass(monkeypatch, seconds=1801)

    assert get_caller(f"Bearer {token}").json() == {"reason": "Invalid token"}


def test_an_expired_token_is_invalid(get_caller: Send, token: str) -> None:
    AccessToken.objects.update(expires=datetime.fromisoformat("2020-01-01T00:00:00Z"))

    assert get_caller(f"Bearer {token}").json() == {"reason": "Invalid token"}


def test_a_revoked_token_stops_working_within_the_time_set(
    get_caller: Send, token: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache_tokens_for(settings, seconds=10)
    get_caller(f"Bearer {token}")
    AccessToken.objects.get().revoke()

    let_time_pass(monkeypatch, seconds=11)

    assert get_caller(f"Bearer {token}").json() == {"reason": "Invalid token"}


def test_the_token_of_an_inactive_client_is_invalid(get_caller: Send, token: str) -> None:
    ApiClient.objects.update(is_active=False)

    assert get_caller(f"Bearer {token}").json() == {"reason": "Invalid token"}


def test_a_new_secret_voids_the_tokens_of_the_old_one(get_caller: Send, token: str) -> None:
    rotate_secret(ApiClient.objects.get())

    assert get_caller(f"Bearer {token}").json() == {"reason": "Invalid token"}


def test_threads_share_the_token_cache(token: str) -> None:
    client_of_token(token)
    seen = []
    threads = [Thread(target=lambda: seen.extend(client_of_token(token) for _ in range(200))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 1600
    assert all(caller is seen[0] for caller in seen)

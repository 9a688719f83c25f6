"""The signing keys of an identity provider: when they are fetched, how long they are good, and what a bad provider can
do."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from threading import Event

import pytest

from edfi_api.core.security.federation import fetching, validation
from edfi_api.core.security.federation.validation import keys_of
from edfi_api.core.security.issuers import issuers
from edfi_api.core.security.models import ApiClient
from tests.conftest import ApiTestClient
from tests.core.security.federation.answers import response_to, status
from tests.core.security.federation.conftest import Accept
from tests.core.security.federation.identity_provider import IdentityProvider, SigningKey, ec_key, send, send_json
from tests.support.logs import Log

METADATA = "/.well-known/openid-configuration"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(validation, "monotonic", found)
    return found


def until(condition: Callable[[], bool]) -> None:
    """Waits for what a thread does; fails after some seconds."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_keys_are_fetched_once(provider: IdentityProvider, known: ApiClient) -> None:
    assert [status(provider.token(n=n)) for n in range(3)] == [200, 200, 200]

    assert provider.requests == [METADATA, "/jwks"]


def test_the_address_of_the_keys_can_be_set(provider: IdentityProvider, known: ApiClient, accept: Accept) -> None:
    accept(provider, jwks_uri=f"{provider.issuer}/keys")

    assert status(provider.token()) == 200
    assert provider.requests == ["/keys"]


def test_the_address_of_the_metadata_can_be_set(provider: IdentityProvider, known: ApiClient, accept: Accept) -> None:
    provider.answers["/meta"] = lambda handler: send_json(
        handler, {"issuer": provider.issuer, "jwks_uri": f"{provider.issuer}/jwks"}
    )
    accept(provider, metadata=f"{provider.issuer}/meta")

    assert status(provider.token()) == 200
    assert provider.requests == ["/meta", "/jwks"]


def test_a_new_key_is_fetched_at_once(provider: IdentityProvider, known: ApiClient, clock: Clock) -> None:
    assert status(provider.token()) == 200
    provider.published = [ec_key().public(), ec_key("new").public()]

    assert status(provider.token(ec_key("new"))) == 200
    assert provider.fetches == 2


def test_unknown_keys_cost_a_fetch_in_ten_seconds(provider: IdentityProvider, known: ApiClient, clock: Clock) -> None:
    def refused(numbers: range) -> set[int]:
        return {status(provider.token(SigningKey(ec_key().private, f"stranger {n}", "ES256"))) for n in numbers}

    assert status(provider.token()) == 200

    assert refused(range(500)) == {401}
    assert provider.fetches == 2
    clock.now += 9.9
    assert refused(range(500, 600)) == {401}
    assert provider.fetches == 2
    clock.now += 0.1
    assert refused(range(600, 1000)) == {401}
    assert provider.fetches == 3
    # The good ones are not affected.
    assert status(provider.token(n=1)) == 200


def test_a_withdrawn_key_ends_with_the_next_refresh(provider: IdentityProvider, known: ApiClient, clock: Clock) -> None:
    assert status(provider.token()) == 200
    provider.published = [ec_key("new").public()]

    clock.now += 599
    assert status(provider.token(n=1)) == 200
    assert provider.fetches == 1
    clock.now += 2
    # Refreshed beside this request, which uses the keys that are there.
    assert status(provider.token(n=2)) == 200
    until(lambda: status(provider.token(n=3)) == 401)
    assert status(provider.token(ec_key("new"))) == 200
    # The third time because of a key that was unknown by then.
    assert provider.fetches == 3


def test_a_server_starts_without_the_provider(
    provider: IdentityProvider, known: ApiClient, clock: Clock, api_without_check: ApiTestClient, log: Log
) -> None:
    provider.answers[METADATA] = lambda handler: send(handler, b"", 500)

    response = response_to(provider.token())

    assert (response.status_code, response["Retry-After"]) == (503, "10")
    assert response.json()["type"] == "urn:ed-fi:api:service-unavailable"
    assert f"{provider.issuer}{METADATA} answered 500; again in 10 seconds" in log.text
    assert log.requests[-1]["issuer"] == provider.issuer
    assert api_without_check.get("/students").status_code == 200
    # It is not asked again for ten seconds, then at once.
    provider.answers.clear()
    clock.now += 9
    assert (status(provider.token()), provider.fetches) == (503, 0)
    clock.now += 1
    assert (status(provider.token()), provider.fetches) == (200, 1)


def test_without_threads_the_keys_are_fetched_later(
    provider: IdentityProvider, known: ApiClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot_start(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    assert status(provider.token()) == 200
    with monkeypatch.context() as without:
        without.setattr(validation.Thread, "start", cannot_start)
        clock.now += 601
        assert status(provider.token(n=1)) == 200
        assert status(provider.token(ec_key("new"))) == 503

    provider.published = [ec_key("new").public()]
    clock.now += 10
    assert status(provider.token(ec_key("new"), n=1)) == 200


def test_pauses_between_attempts_become_longer(provider: IdentityProvider, known: ApiClient, clock: Clock) -> None:
    provider.answers[METADATA] = lambda handler: send(handler, b"", 500)

    pauses = []
    for _ in range(5):
        pauses.append(int(response_to(provider.token())["Retry-After"]))
        clock.now += pauses[-1]

    assert pauses == [10, 20, 40, 60, 60]


def test_known_keys_are_good_for_a_day_without_the_provider(
    provider: IdentityProvider, known: ApiClient, clock: Clock
) -> None:
    assert status(provider.token()) == 200
    provider.stop()

    clock.now += 24 * 3600 - 1
    assert status(provider.token(n=1)) == 200
    until(lambda: keys_of(next(iter(issuers().values())))._back_off.failures == 1)
    # Whether another key is good cannot be known.
    assert status(provider.token(ec_key("new"))) == 503
    clock.now += 2
    assert status(provider.token(n=2)) == 503


def _slowly(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b" ")
        time.sleep(0.02)


def _endless(handler: BaseHTTPRequestHandler) -> None:
    send(handler, b'{"keys": [' + b" " * 10_000_000 + b"]}")


BAD_ANSWERS: dict[str, tuple[str, Callable[[BaseHTTPRequestHandler], None], str]] = {
    "HTML": ("/jwks", lambda handler: send(handler, b"<html>maintenance</html>"), "is not JSON"),
    "a list": ("/jwks", lambda handler: send_json(handler, []), "is not a JSON object"),
    "no keys": ("/jwks", lambda handler: send_json(handler, {"key": []}), "is not a set of at most 100 keys"),
    "101 keys": ("/jwks", lambda handler: send_json(handler, {"keys": [{}] * 101}), "is not a set of at most 100 keys"),
    "10 MB": ("/jwks", _endless, "has more than 262144 bytes"),
    "a redirect": ("/jwks", lambda handler: send(handler, b"", 302, Location="/elsewhere"), "answered 302"),
    "404": ("/jwks", lambda handler: send(handler, b"{}", 404), "answered 404"),
    "a byte now and then": ("/jwks", _slowly, "takes longer than"),
    "another issuer": (METADATA, lambda handler: send_json(handler, {"issuer": "x"}), "is of another issuer"),
}


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_a_bad_answer_is_no_answer(
    case: str, provider: IdentityProvider, known: ApiClient, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, provider.answers[path], message = BAD_ANSWERS[case]
    monkeypatch.setattr(fetching, "SECONDS", 0.3)

    assert status(provider.token()) == 503
    until(lambda: message in log.text)
    assert "/elsewhere" not in provider.requests


@pytest.mark.parametrize("address", ["http://keys.example.org/jwks", "file:///etc/passwd", 7, None])
def test_keys_from_an_unsafe_address_are_not_fetched(
    provider: IdentityProvider, known: ApiClient, log: Log, address: object
) -> None:
    provider.answers[METADATA] = lambda handler: send_json(handler, {"issuer": provider.issuer, "jwks_uri": address})

    assert status(provider.token()) == 503
    assert "has no jwks_uri with https" in log.text


@pytest.fixture
def held_back(provider: IdentityProvider) -> Iterator[Event]:
    """The provider answers when this is set."""
    released = Event()
    published = provider.published

    def answer(handler: BaseHTTPRequestHandler) -> None:
        released.wait(10)
        send_json(handler, {"keys": published})

    provider.answers["/jwks"] = answer
    yield released
    released.set()


def test_a_slow_provider_holds_no_thread_for_long(
    provider: IdentityProvider, known: ApiClient, held_back: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "_SECONDS_OF_WAITING", 0.1)

    began = time.monotonic()
    assert [status(provider.token(n=n)) for n in range(10)] == [503] * 10
    # All of them together wait for the first tenth of a second.
    assert time.monotonic() - began < 2
    held_back.set()
    until(lambda: status(provider.token()) == 200)
    assert provider.fetches == 1


def test_concurrent_requests_share_a_fetch(provider: IdentityProvider, accept: Accept, held_back: Event) -> None:
    accept(provider)
    [issuer] = issuers().values()
    with ThreadPoolExecutor(8) as threads:
        found = [threads.submit(keys_of(issuer).find, "ec", "ES256") for _ in range(8)]
        until(lambda: provider.fetches == 1)
        held_back.set()
        assert [[key.kid for key in each.result()] for each in found] == [["ec"]] * 8

    assert provider.fetches == 1


def test_keys_without_an_id_are_tried(provider: IdentityProvider, known: ApiClient) -> None:
    others = [ec_key(f"other {n}").public(kid=None) for n in range(4)]
    provider.published = [*others, ec_key().public(kid=None)]

    assert status(provider.token(header={"kid": None})) == 200


def test_of_keys_without_an_id_five_are_tried(provider: IdentityProvider, known: ApiClient) -> None:
    others = [ec_key(f"other {n}").public(kid=None) for n in range(5)]
    provider.published = [*others, ec_key().public(kid=None)]

    assert status(provider.token(header={"kid": None})) == 401


def test_a_proxy_of_the_environment_is_used(
    provider: IdentityProvider, known: ApiClient, accept: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IdentityProvider(published=[ec_key().public()]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.issuer)
        monkeypatch.setenv("no_proxy", "")
        accept(provider, jwks_uri=f"{provider.issuer}/jwks")

        assert status(provider.token()) == 200
        assert (proxy.requests, provider.requests) == ([f"{provider.issuer}/jwks"], [])

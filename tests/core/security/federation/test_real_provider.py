"""Tokens of a real provider (tests/support/oidc): both modes, and a rotation of keys while requests run."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic
from typing import Any

import pytest
from django.db import connections
from pytest_django import Settings as DjangoSettings

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.federation import validation
from edfi_api.core.security.models import ApiClient, ExternalIdentity
from tests.conftest import http
from tests.core.security.federation.answers import refusal, status
from tests.core.security.federation.identity_provider import write_issuers
from tests.support.logs import Log
from tests.support.oidc.provider import Provider, Settings, ec_key, machine, rsa_key, running_provider

CLAIMS = {"claimSet": "SISVendor", "educationOrganizationIds": "255901", "namespacePrefixes": "uri://ed-fi.org"}
OLD, NEW = rsa_key("old"), rsa_key("new")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    provided = Settings(
        keys=[OLD], clients=[machine("district-sis"), machine("claiming")], claims_of_clients={"claiming": CLAIMS}
    )
    with running_provider(tmp_path_factory.mktemp("provider"), provided) as running:
        yield running


@pytest.fixture
def accepted(process: Provider, settings: DjangoSettings, tmp_path: Any) -> Iterator[Provider]:
    _accept(process, settings, tmp_path)
    yield process
    if process.settings.keys != [OLD]:
        process.restart(keys=[OLD], algorithm="RS256")


def _accept(process: Provider, settings: DjangoSettings, tmp_path: Any, **members: Any) -> None:
    entry = {"issuer": process.issuer, "audience": process.settings.audience, **members}
    path = write_issuers(tmp_path / f"issuers{len(list(tmp_path.iterdir()))}.json", entry)
    settings.EDFI_API = {**settings.EDFI_API, "OIDC_ISSUERS": path}


def _register(process: Provider) -> None:
    credentials = create_client("Lakeside SIS", "EdFiSandbox")
    client = ApiClient.objects.get(client_id=credentials.key)
    ExternalIdentity.objects.create(api_client=client, issuer=process.issuer, value="district-sis")


def test_a_token_of_a_registered_client(accepted: Provider, db: None, log: Log) -> None:
    _register(accepted)

    assert status(accepted.token("district-sis")) == 200
    assert refusal(accepted.token("claiming"), log) == ("no such client", accepted.issuer)


def test_a_token_with_rights(accepted: Provider, db: None, settings: DjangoSettings, tmp_path: Any) -> None:
    _accept(accepted, settings, tmp_path, claims={"mode": "claims", "claimSet": "claimSet"})
    token = accepted.token("claiming")

    headers = {"Authorization": f"Bearer {token}"}
    info = http().post("/oauth/token_info", {"token": token}, content_type="application/json", headers=headers).json()

    assert info["claim_set"] == {"name": "SISVendor"}
    assert info["namespace_prefixes"] == ["uri://ed-fi.org"]
    assert [each["education_organization_id"] for each in info["education_organizations"]] == [255901]


@dataclass
class _Load:
    """Requests of several threads with the newest token, until told to stop; all statuses are kept."""

    token: str
    stop: Event = field(default_factory=Event)
    statuses: list[int] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def send(self) -> None:
        try:
            while not self.stop.is_set():
                answered = status(self.token)
                with self.lock:
                    self.statuses.append(answered)
        finally:
            connections.close_all()

    def wait_for_more(self, requests: int) -> None:
        """Wait until so many more have been answered."""
        wanted, deadline = len(self.statuses) + requests, monotonic() + 30
        while len(self.statuses) < wanted:
            assert monotonic() < deadline
            self.stop.wait(0.01)


@pytest.mark.long
@pytest.mark.usefixtures("transactional_db")
def test_a_rotation_of_keys_refuses_no_good_token(
    transactional_db: None, accepted: Provider, settings: DjangoSettings, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each request validates its token.
    settings.EDFI_API = {**settings.EDFI_API, "TOKEN_CACHE_SECONDS": 0}
    _register(accepted)
    old = accepted.token("district-sis")
    load = _Load(old)

    with ThreadPoolExecutor(4) as threads:
        sending = [threads.submit(load.send) for _ in range(4)]
        load.wait_for_more(20)
        # While the provider is down, and when it signs with a key that the server does not know yet.
        accepted.restart(keys=[NEW, OLD])
        load.wait_for_more(20)
        load.token = accepted.token("district-sis")
        load.wait_for_more(40)
        load.stop.set()
    for each in sending:
        each.result()

    assert set(load.statuses) == {200}
    # Both are good until the provider withdraws the old one, and ten minutes at most have passed.
    assert (status(old), status(load.token)) == (200, 200)
    accepted.restart(keys=[NEW])
    later = monotonic() + 24 * 3600 + 1
    monkeypatch.setattr(validation, "monotonic", lambda: later)
    assert status(load.token) == 200
    assert refusal(old, log) == ("unknown key", accepted.issuer)


@pytest.mark.long
def test_a_provider_that_goes_over_to_another_kind_of_keys(
    accepted: Provider, db: None, settings: DjangoSettings, tmp_path: Any
) -> None:
    _register(accepted)
    _accept(accepted, settings, tmp_path, algorithms=["RS256", "ES256"])
    old = accepted.token("district-sis")
    assert status(old) == 200

    accepted.restart(keys=[ec_key("curve"), OLD], algorithm="ES256")
    new = accepted.token("district-sis")
    assert (status(new), status(old)) == (200, 200)

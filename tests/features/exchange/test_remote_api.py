"""The remote API as a client sees it: bounded, and trusted in nothing."""

from collections.abc import Callable

import pytest

from edfi_api.common import http_client
from edfi_api.common.conf import api_settings
from edfi_api.features.exchange import remote_api
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.remote_api import RemoteApi, RemoteFailed, Trust
from tests.features.exchange.reference_source import ReferenceSource


@pytest.fixture
def api(source: ReferenceSource, connect: Callable[..., Connection]) -> RemoteApi:
    return RemoteApi(connect(), Trust())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_api, "_FIRST_PAUSE", 0.001)


def test_an_address_of_another_host_gets_no_token(api: RemoteApi) -> None:
    api.discovery  # noqa: B018  Read first.
    with pytest.raises(RemoteFailed, match="another host"):
        api.get("http://localhost:9/data/ed-fi/students")


def test_a_redirect_to_another_host_is_not_followed(api: RemoteApi, source: ReferenceSource) -> None:
    away = (302, {}, {"Location": "http://localhost:9/"})
    source.fault = lambda number, path: away if path.startswith("/data/") else None

    with pytest.raises(RemoteFailed, match="redirects to another host"):
        api.get(api.data_address("ed-fi/students"))


def test_attempts_end(api: RemoteApi, source: ReferenceSource, quick: None) -> None:
    address = api.data_address("ed-fi/students")
    source.fault = lambda number, path: 503
    before = len(source.requests)

    with pytest.raises(RemoteFailed, match=r"503 a fault \(correlation id abc\)"):
        api.request("GET", address)

    assert len(source.requests) - before == 1 + 1 + remote_api.MOST_REPETITIONS


def test_an_answer_that_is_too_large_is_not_read(
    api: RemoteApi, source: ReferenceSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "_BLOCK", 1000)
    source.fault = lambda number, path: (200, "[" + "1," * 1000 + "1]", {}) if path.startswith("/data/") else None

    with pytest.raises(RemoteFailed, match="more than 1,500 bytes"):
        api._repeated("GET", api.data_address("ed-fi/students"), None, {}, most=1500)


def test_plain_http_leads_to_this_host_only(connect: Callable[..., Connection]) -> None:
    connection = connect(address="http://api.example.org/")

    with pytest.raises(RemoteFailed, match="--insecure"):
        RemoteApi(connection, Trust())
    RemoteApi(connection, Trust(allows_plain_http=True))


def test_hosts_that_the_settings_do_not_name_are_not_called(connect: Callable[..., Connection], settings) -> None:
    connection = connect(address="https://api.example.org/")
    settings.EDFI_API = settings.EDFI_API | {"STORE_HOSTS": ("10.0.0.0/8",)}
    assert api_settings.STORE_HOSTS == ("10.0.0.0/8",)

    with pytest.raises(RemoteFailed, match="MEADOWLARK_STORE_HOSTS"):
        RemoteApi(connection, Trust())

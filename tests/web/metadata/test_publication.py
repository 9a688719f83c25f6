"""Compression, ETags and addresses of published documents."""

import gzip
import time
from collections.abc import Iterable

import pytest
from django.test import Client

ADDRESS = "/metadata/dependencies"


def get(**headers: str):
    return Client().get(ADDRESS, headers=headers)


def test_a_document_is_compressed_for_clients_that_accept_gzip() -> None:
    plain, compressed = get(), get(**{"Accept-Encoding": "br, gzip;q=0.8"})

    assert compressed["Content-Encoding"] == "gzip"
    assert gzip.decompress(compressed.content) == plain.content
    assert "Accept-Encoding" in plain["Vary"]
    assert "Accept-Encoding" in compressed["Vary"]


@pytest.mark.parametrize("accepted", ["", "br", "identity", "gzip;q=0", "br, gzip; q=0.0"])
def test_a_document_is_plain_for_clients_that_do_not_accept_gzip(accepted: str) -> None:
    assert "Content-Encoding" not in get(**{"Accept-Encoding": accepted})


def test_a_conditional_request_for_the_current_document_is_304() -> None:
    etag = get()["ETag"]

    response = get(**{"If-None-Match": f'"other", {etag}'})

    assert (response.status_code, response.content) == (304, b"")
    assert response["ETag"] == etag
    assert get(**{"If-None-Match": '"other"'}).status_code == 200


def test_each_content_coding_has_its_own_strong_etag() -> None:
    plain, compressed = get()["ETag"], get(**{"Accept-Encoding": "gzip"})["ETag"]

    assert plain != compressed
    assert not plain.startswith("W/")
    assert not compressed.startswith("W/")
    assert get(**{"Accept-Encoding": "gzip", "If-None-Match": plain}).status_code == 200


def test_a_proxy_that_compresses_does_not_change_the_tag_that_comes_back() -> None:
    """Such as Caddy, which removes the ending that it would have written itself."""
    compressed = get(**{"Accept-Encoding": "gzip"})["ETag"]

    sent = compressed.replace('-gzip"', '"')

    assert get(**{"Accept-Encoding": "gzip", "If-None-Match": sent}).status_code == 304


def test_documents_differ_by_the_address_of_the_server(settings) -> None:
    settings.ALLOWED_HOSTS = ["testserver", "other"]

    here = Client().get("/metadata/xsd").json()
    there = Client().get("/metadata/xsd", headers={"Host": "other"}).json()

    assert here[0]["files"] == "http://testserver/metadata/xsd/ed-fi/files"
    assert there[0]["files"] == "http://other/metadata/xsd/ed-fi/files"


@pytest.mark.parametrize("address", ["/metadata", "/metadata/specifications/resources-spec.json"])
def test_both_content_codings_name_the_requested_address(settings, address: str) -> None:
    settings.ALLOWED_HOSTS = ["a.example"]
    host = {"Host": "a.example:8443"}

    plain = Client().get(address, headers=host)
    compressed = Client().get(address, headers=host | {"Accept-Encoding": "gzip"})

    assert b'"http://a.example:8443/' in plain.content
    assert b".invalid" not in plain.content
    assert gzip.decompress(compressed.content) == plain.content
    assert len(compressed.content) < max(len(plain.content) / 5, 1000)


def test_each_address_has_its_own_etag(settings) -> None:
    settings.ALLOWED_HOSTS = ["a.example"]

    tags = {Client().get("/metadata", headers={"Host": host})["ETag"] for host in ("a.example", "a.example:1")}

    assert len(tags) == 2


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_documents_are_not_built_again_for_each_port(settings, coding: str) -> None:
    """Otherwise each of 65,535 ports of an allowed host would build a document."""
    settings.ALLOWED_HOSTS = ["a.example"]
    client = Client()

    def seconds(ports: Iterable[int]) -> float:
        start = time.process_time()
        for port in ports:
            headers = {"Host": f"a.example:{port}", "Accept-Encoding": coding}
            assert client.get("/metadata/specifications/resources-spec.json", headers=headers).status_code == 200
        return time.process_time() - start

    seconds([1])

    assert seconds(range(1, 31)) < 3 * seconds([1] * 30)

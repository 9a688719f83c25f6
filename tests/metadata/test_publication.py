"""How finished documents go over the wire."""

import gzip
import time
from collections.abc import Iterable

import pytest
from django.test import Client

ADDRESS = "/metadata/dependencies"


def get(**headers: str):
    return Client().get(ADDRESS, headers=headers)


def test_who_accepts_gzip_gets_the_same_document_compressed() -> None:
    plain, compressed = get(), get(**{"Accept-Encoding": "br, gzip;q=0.8"})

    assert compressed["Content-Encoding"] == "gzip"
    assert gzip.decompress(compressed.content) == plain.content
    assert "Accept-Encoding" in plain["Vary"]
    assert "Accept-Encoding" in compressed["Vary"]


@pytest.mark.parametrize("accepted", ["", "br", "identity", "gzip;q=0", "br, gzip; q=0.0"])
def test_who_does_not_accept_gzip_gets_it_plain(accepted: str) -> None:
    assert "Content-Encoding" not in get(**{"Accept-Encoding": accepted})


def test_who_has_the_document_already_gets_none() -> None:
    etag = get()["ETag"]

    response = get(**{"If-None-Match": f'"other", {etag}'})

    assert (response.status_code, response.content) == (304, b"")
    assert response["ETag"] == etag
    assert get(**{"If-None-Match": '"other"'}).status_code == 200


def test_the_two_codings_have_strong_tags_of_their_own() -> None:
    plain, compressed = get()["ETag"], get(**{"Accept-Encoding": "gzip"})["ETag"]

    assert plain != compressed
    assert not plain.startswith("W/")
    assert not compressed.startswith("W/")
    assert get(**{"Accept-Encoding": "gzip", "If-None-Match": plain}).status_code == 200


def test_documents_for_another_address_are_others(settings) -> None:
    settings.ALLOWED_HOSTS = ["testserver", "other"]

    here = Client().get("/metadata/xsd").json()
    there = Client().get("/metadata/xsd", headers={"Host": "other"}).json()

    assert here[0]["files"] == "http://testserver/metadata/xsd/ed-fi/files"
    assert there[0]["files"] == "http://other/metadata/xsd/ed-fi/files"


@pytest.mark.parametrize("address", ["/metadata", "/metadata/specifications/resources-spec.json"])
def test_both_codings_name_the_address_that_was_asked(settings, address: str) -> None:
    settings.ALLOWED_HOSTS = ["a.example"]
    host = {"Host": "a.example:8443"}

    plain = Client().get(address, headers=host)
    compressed = Client().get(address, headers=host | {"Accept-Encoding": "gzip"})

    assert b'"http://a.example:8443/' in plain.content
    assert b".invalid" not in plain.content
    assert gzip.decompress(compressed.content) == plain.content
    assert len(compressed.content) < max(len(plain.content) / 5, 1000)


def test_addresses_have_tags_of_their_own(settings) -> None:
    settings.ALLOWED_HOSTS = ["a.example"]

    tags = {Client().get("/metadata", headers={"Host": host})["ETag"] for host in ("a.example", "a.example:1")}

    assert len(tags) == 2


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_client_that_names_ever_other_ports_costs_no_more_than_one_that_does_not(settings, coding: str) -> None:
    """A document is not made anew for each, of which there are 65,535 for each host that is ours."""
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

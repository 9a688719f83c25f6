"""Bodies that are compressed, or in another encoding than UTF-8, at every address that takes a body."""

import contextlib
import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import settings as of_examples
from hypothesis import strategies as st

from edfi_api.common import request_body
from edfi_api.core.security.clients import create_client
from meadowlark.serving.lean_handler import LeanRequest
from tests.conftest import ApiTestClient, http
from tests.features.management_api.managing import token_of
from tests.features.management_api.serving import serve_management_api
from tests.support.examples import examples
from tests.support.factories import STUDENT

MARK = b"\xef\xbb\xbf"
NAMED = STUDENT | {"firstName": "Zoë"}


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


def in_two_members(data: bytes) -> bytes:
    return gzip.compress(data[:5]) + gzip.compress(data[5:])


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZip", gzip.compress),
    "several members": ("gzip", in_two_members),
    "deflate": ("deflate", zlib.compress),
    "deflate without a header": ("deflate", raw_deflate),
    "two codings": ("deflate, gzip", lambda data: gzip.compress(zlib.compress(data))),
    "identity": ("identity", lambda data: data),
}


class Door(NamedTuple):
    """An address that takes a body: how it is sent, and the status of its success."""

    send: Callable[..., Any]
    text: bytes
    success: int


@pytest.fixture(params=["document", "batch", "lines", "form", "token as JSON", "token info", "management"])
def door(request: pytest.FixtureRequest, api: ApiTestClient) -> Door:
    if request.param == "management":
        serve_management_api(request.getfixturevalue("settings"))
        return management_door(token_of("operator"))
    credentials = create_client("Zoë", "EdFiSandbox")
    as_json = {"client_id": credentials.key, "client_secret": credentials.secret, "grant_type": "client_credentials"}
    operation = {"op": "upsert", "resource": "/ed-fi/students", "document": NAMED}
    form = "&".join(f"{name}={value}" for name, value in as_json.items())
    path, media_type, text, success = {
        "document": ("/data/ed-fi/students", "application/json", json.dumps(NAMED, ensure_ascii=False), 201),
        "batch": ("/batch", "application/json", json.dumps([operation], ensure_ascii=False), 200),
        "lines": ("/batch", "application/x-ndjson", json.dumps(operation, ensure_ascii=False), 200),
        "form": ("/oauth/token", "application/x-www-form-urlencoded", form, 200),
        "token as JSON": ("/oauth/token", "application/json", json.dumps(as_json), 200),
        "token info": ("/oauth/token_info", "application/json", json.dumps({"token": api.token}), 200),
    }[request.param]

    def send(body: bytes, charset: str = "", **headers: str) -> Any:
        bearer = {} if path == "/oauth/token" else {"HTTP_AUTHORIZATION": f"Bearer {api.token}"}
        return http().generic("POST", path, body, content_type=f"{media_type}{charset}", **bearer, **headers)

    return Door(send, text.encode(), success)


def management_door(token: str) -> Door:
    body = {"company": "Zoë", "contactName": "Z", "contactEmailAddress": "z@z.example", "namespacePrefixes": "uri://z"}

    def send(body: bytes, charset: str = "", **headers: str) -> Any:
        bearer = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
        return http().generic(
            "POST", "/config/v3/vendors", body, content_type=f"application/json{charset}", **bearer, **headers
        )

    return Door(send, json.dumps(body, ensure_ascii=False).encode(), 201)


@pytest.mark.parametrize("kind", CODINGS)
def test_a_compressed_body_is_decoded(door: Door, kind: str) -> None:
    name, compress = CODINGS[kind]

    answer = door.send(compress(door.text), HTTP_CONTENT_ENCODING=name)

    assert answer.status_code == door.success, answer.content


@pytest.mark.parametrize("coding", ["br", "compress", "zstd", "gzip, br"])
def test_another_coding_is_refused_with_those_that_are_read(door: Door, coding: str) -> None:
    refused = door.send(door.text, HTTP_CONTENT_ENCODING=coding)

    assert refused.status_code == 415
    assert refused["Accept-Encoding"] == "gzip, deflate, identity"
    assert f"Content-Encoding: {coding.rsplit(maxsplit=1)[-1]}" in refused.content.decode()


@pytest.mark.parametrize(
    ("coding", "spoil"),
    [
        ("gzip", lambda text: gzip.compress(text)[:-9]),
        ("gzip", lambda text: gzip.compress(text) + b"more"),
        ("gzip", lambda text: text),
        ("deflate", lambda text: zlib.compress(text)[:-5]),
        ("deflate", lambda text: zlib.compress(text) + b"more"),
        ("deflate", lambda text: b"\xff" + text),
    ],
    ids=["cut gzip", "gzip and more", "no gzip", "cut deflate", "deflate and more", "no deflate"],
)
def test_data_that_are_not_what_they_say_are_refused(door: Door, coding: str, spoil: Callable[[bytes], bytes]) -> None:
    refused = door.send(spoil(door.text), HTTP_CONTENT_ENCODING=coding)

    assert refused.status_code == 400
    assert coding in refused.content.decode()
    assert "surrogates" not in refused.content.decode()


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_what_becomes_too_long_is_refused(door: Door, settings: Any, name: str) -> None:
    settings.EDFI_API = settings.EDFI_API | {"MAX_BODY_BYTES": 30_000, "BATCH_BYTES": 30_000}
    bomb = CODINGS[name][1](b" " * 5_000_000 + door.text)
    assert len(bomb) < 16_000

    # Of token info, a body that is too long has no token.
    assert door.send(bomb, HTTP_CONTENT_ENCODING=name).status_code == (400 if b'"token"' in door.text else 413)


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "ISO-8859-1", "windows-1252"])
def test_a_declared_encoding_is_read(door: Door, charset: str) -> None:
    answer = door.send(door.text.decode().encode(charset), charset=f"; charset={charset}")

    assert answer.status_code == door.success, answer.content


@pytest.mark.parametrize("charset", ["", "; charset=utf-8", '; charset="UTF-8"', "; charset=utf8; x=y"])
@pytest.mark.parametrize("mark", [b"", MARK])
def test_a_byte_order_mark_is_left_out(door: Door, mark: bytes, charset: str) -> None:
    assert door.send(mark + door.text, charset=charset).status_code == door.success


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_byte_order_mark_says_the_encoding(door: Door, encoding: str) -> None:
    assert door.send(door.text.decode().encode(encoding)).status_code == door.success


@pytest.mark.parametrize("charset", ["utf-7", "base64", "klingon", "shift_jis", "idna"])
def test_another_encoding_is_refused_by_its_name(door: Door, charset: str) -> None:
    refused = door.send(door.text, charset=f"; charset={charset}")

    assert refused.status_code == 415
    assert f"The charset {charset} is not read; send UTF-8" in refused.content.decode()


def test_bytes_that_are_not_utf8_are_shown_with_what_to_do(door: Door) -> None:
    spoilt = door.text[:1] + b"\xe9" + door.text[1:]

    refused = door.send(spoilt)

    text = refused.content.decode()
    assert refused.status_code == 400
    assert "it is not UTF-8: byte 0xE9 at position 1" in text
    assert "charset=windows-1252" in text


def test_a_document_is_stored_as_it_was_meant(api: ApiTestClient) -> None:
    headers = {"HTTP_AUTHORIZATION": f"Bearer {api.token}", "HTTP_CONTENT_ENCODING": "gzip"}
    body = gzip.compress(json.dumps(NAMED, ensure_ascii=False).encode("latin-1"))

    http().generic("POST", "/data/ed-fi/students", body, content_type="application/json; charset=iso-8859-1", **headers)

    assert api.get("/students").json()[0]["firstName"] == "Zoë"


def test_every_chunking_of_a_text_is_the_same_text() -> None:
    @of_examples(max_examples=examples(40), deadline=None)
    @given(st.text(), st.sampled_from(["utf-8", "utf-16", "utf-32-be", "utf-8-sig"]), st.integers(1, 7))
    def check(text: str, encoding: str, size: int) -> None:
        sent = ("{" + text).encode(encoding)
        pieces = [sent[start : start + size] for start in range(0, len(sent), size)]

        found = b"".join(request_body.utf8_blocks(pieces, f"application/json; charset={encoding}"))

        assert found.decode() == "{" + text

    check()


@of_examples(max_examples=examples(40), deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate"]), st.integers(1, 40))
def test_any_compressed_bytes_are_read_or_refused(sent: bytes, coding: str, size: int) -> None:
    whole = CODINGS[coding][1](sent)
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]

    assert b"".join(request_body.decoded(pieces, [coding])) == sent
    with contextlib.suppress(request_body.BodyUnreadable):
        list(request_body.decoded([sent], [coding]))


@pytest.mark.parametrize("charset", ["utf-16", "base64", "klingon"])
def test_the_query_string_is_not_in_the_encoding_of_the_body(charset: str) -> None:
    environ = RequestFactory().post("/batch?mode=independent", b"", content_type="application/json").environ

    request = LeanRequest(environ | {"CONTENT_TYPE": f"application/json; charset={charset}"})

    assert request.GET["mode"] == "independent"

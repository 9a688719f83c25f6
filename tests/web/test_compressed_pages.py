"""Pages, style sheets and scripts are compressed for those who accept it; other answers are left as they are."""

import gzip
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.conftest import http
from tests.support.admin_users import client_of

BROWSER: dict[str, Any] = {"HTTP_ACCEPT": "text/html", "HTTP_ACCEPT_ENCODING": "gzip, deflate, br"}
SCRIPT = "/static/edfi_api/docs.js"


def content(response: Any) -> bytes:
    return b"".join(response) if response.streaming else response.content


@pytest.mark.parametrize("path", ["/", "/docs", "/guides", "/admin/login/", "/static/edfi_api/site.css", SCRIPT])
def test_pages_and_their_files_are_compressed(db: None, path: str) -> None:
    plain, compressed = http().get(path, HTTP_ACCEPT="text/html"), http().get(path, **BROWSER)

    assert compressed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in compressed["Vary"]
    assert int(compressed["Content-Length"]) == len(compressed.content) < 0.6 * len(content(plain))
    assert "Content-Encoding" not in plain


def test_a_file_is_the_same_compressed_and_each_time(db: None) -> None:
    plain = content(http().get(SCRIPT))

    for _ in range(2):
        assert gzip.decompress(http().get(SCRIPT, **BROWSER).content) == plain


def test_the_pages_of_a_user_are_compressed(db: None) -> None:
    steward = client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))

    response = steward.get("/admin/", **BROWSER)

    assert response["Content-Encoding"] == "gzip"
    assert b"<header" in gzip.decompress(response.content)


def test_a_browser_that_has_a_file_gets_it_once(db: None) -> None:
    first = http().get(SCRIPT, **BROWSER)

    again = http().get(SCRIPT, **BROWSER, HTTP_IF_NONE_MATCH=first["ETag"])

    assert (again.status_code, content(again)) == (304, b"")


@pytest.mark.parametrize("path", ["/", SCRIPT])
def test_a_browser_may_exclude_it(db: None, path: str) -> None:
    assert "Content-Encoding" not in http().get(path, HTTP_ACCEPT="text/html", HTTP_ACCEPT_ENCODING="gzip;q=0")


def test_a_part_of_a_file_is_not_compressed(db: None) -> None:
    part = http().get(SCRIPT, **BROWSER, HTTP_RANGE="bytes=0-9")

    assert (part.status_code, len(content(part))) == (206, 10)
    assert "Content-Encoding" not in part


def test_a_token_is_not_compressed(db: None) -> None:
    form = {"grant_type": "client_credentials", "client_id": "nobody", "client_secret": "x" * 300}

    assert "Content-Encoding" not in http().post("/oauth/token", form, HTTP_ACCEPT_ENCODING="gzip")

"""Compression of data routes: enabled by a setting, for clients that accept it."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ApiTestClient

TOP = Path(__file__).parents[3]
MIDDLEWARE = "edfi_api.web.middleware.DataGZipMiddleware"
YEAR = {"schoolYear": 2026, "currentSchoolYear": True, "schoolYearDescription": "2025-2026"}


@pytest.fixture
def years(api: ApiTestClient, settings: Any) -> ApiTestClient:
    """Compression is enabled, and there are enough documents for a page above the threshold."""
    settings.MIDDLEWARE = [*settings.MIDDLEWARE[:2], MIDDLEWARE, *settings.MIDDLEWARE[2:]]
    for year in range(2020, 2030):
        assert api.post("/schoolYearTypes", YEAR | {"schoolYear": year}).status_code == 201
    return api


def test_a_page_is_compressed_for_clients_that_accept_it(years: ApiTestClient) -> None:
    plain, compressed = years.get("/schoolYearTypes"), years.get("/schoolYearTypes", HTTP_ACCEPT_ENCODING="gzip, br")

    assert "Content-Encoding" not in plain.headers
    assert compressed["Content-Encoding"] == "gzip"
    assert compressed["Content-Length"] == str(len(compressed.content))
    assert len(compressed.content) < len(plain.content) / 3
    assert gzip.decompress(compressed.content) == plain.content
    assert "Accept-Encoding" in plain["Vary"] and "Accept-Encoding" in compressed["Vary"]


@pytest.mark.parametrize("accepted", ["identity", "br", "gzip;q=0", "gzip;q=0.0, *;q=0"])
def test_a_page_is_plain_for_clients_that_do_not_accept_gzip(years: ApiTestClient, accepted: str) -> None:
    answer = years.get("/schoolYearTypes", HTTP_ACCEPT_ENCODING=accepted)

    assert "Content-Encoding" not in answer.headers
    assert len(answer.json()) == 10


def test_the_etag_of_a_compressed_document_can_be_sent_back(years: ApiTestClient) -> None:
    """A weak ETag never matches in If-Match (RFC 9110 §13.1.1)."""
    [year] = years.get("/schoolYearTypes?schoolYear=2021").json()
    long = YEAR | {"schoolYear": 2021, "schoolYearDescription": "x" * 50, "id": year["id"]}
    path = f"/schoolYearTypes/{year['id']}"

    read = years.get(path, HTTP_ACCEPT_ENCODING="gzip")
    assert read["ETag"] == years.get(path)["ETag"]
    assert not read["ETag"].startswith("W/")
    assert years.put(path, long, HTTP_IF_MATCH=read["ETag"]).status_code == 204


def test_errors_are_compressed_too(years: ApiTestClient) -> None:
    answer = years.post("/schools", {"schoolId": "none"}, HTTP_ACCEPT_ENCODING="gzip")

    assert answer.status_code == 400
    assert answer["Content-Encoding"] == "gzip"
    assert answer["Content-Type"] == "application/problem+json"
    assert json.loads(gzip.decompress(answer.content))["status"] == 400


def test_nothing_is_compressed_by_default(api: ApiTestClient) -> None:
    assert "Content-Encoding" not in api.get("/schools", HTTP_ACCEPT_ENCODING="gzip").headers


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("false", False)])
def test_compression_is_enabled_by_a_setting(value: str, expected: bool) -> None:
    program = "from meadowlark import settings; print(*settings.MIDDLEWARE)"
    environment = os.environ | {"MEADOWLARK_GZIP": value}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=TOP, env=environment, check=True, capture_output=True, text=True
    )

    assert (MIDDLEWARE in done.stdout.split()) is expected

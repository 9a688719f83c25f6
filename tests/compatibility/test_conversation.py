"""The answers of an ODS/API 7.3, and those with `MEADOWLARK_COMPATIBILITY=ods`, to the same requests."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from edfi_api.security.clients import create_client
from tests.compatibility.conversation import Caller, Conversation, lines
from tests.conftest import http
from tests.databases import rolled_back
from tests.serving import like_the_ods

PREFIX = "urn:ed-fi:api:"


@dataclass(frozen=True)
class Exchange:
    """A line with an answer, and the answer here."""

    line: dict[str, Any]
    response: Any
    body: Any


@pytest.fixture(scope="module")
def exchanges(django_db_setup: None, django_db_blocker: Any) -> Iterator[list[Exchange]]:
    with django_db_blocker.unblock(), rolled_back(), like_the_ods():
        conversation = Conversation(
            {
                "full": _caller("full", "FullAccess", [255901, 255901001]),
                "bench": _caller("bench", "EdFiSandboxDefaults", [255901, 255901001, 990001]),
                "school": _caller("school", "SISVendor", [255901001, 255901]),
            }
        )
        found = []
        for line in lines():
            response = conversation.answer_to(line)
            if "status" in line:
                found.append(Exchange(line, response, _body(response)))
            else:
                assert response.status_code in (200, 201), (line, response.content)
        yield found


def _caller(key: str, claim_set: str, organizations: list[int]) -> Caller:
    prefixes = ("uri://ed-fi.org", "uri://gbisd.edu")
    credentials = create_client(key, claim_set, organizations, prefixes, key=key)
    form = {"grant_type": "client_credentials", "client_id": key, "client_secret": credentials.secret}
    token = http().post("/oauth/token", form, content_type="application/json").json()["access_token"]
    return Caller(key, credentials.secret, token)


def _body(response: Any) -> Any:
    text = b"".join(response) if response.streaming else response.content
    return json.loads(text) if "json" in response.headers.get("Content-Type", "") and text else None


@pytest.mark.django_db
def test_status_and_problem_type(exchanges):
    different = {}
    for each in exchanges:
        type_ = each.body.get("type", "") if isinstance(each.body, dict) else ""
        got = each.response.status_code, type_.removeprefix(PREFIX)
        want = each.line["status"], each.line.get("type", "")
        if got != want:
            different[each.line["name"]] = (
                want,
                got,
                (each.body.get("validationErrors") or each.body.get("errors")) if isinstance(each.body, dict) else None,
            )
    for k, v in different.items():
        print(k, v)
    print(len(exchanges), len(different))
    print("=== says")
    for each in exchanges:
        if each.line["name"] in different or "type" not in each.line:
            continue
        b = each.body
        got = b.get("validationErrors") or b.get("errors") or b["detail"]
        if "says" in each.line and got != each.line["says"]:
            print(each.line["name"], "\n   WANT", each.line["says"], "\n   GOT ", got)
        if "detail" in each.line and b["detail"] != each.line["detail"]:
            print(each.line["name"], "DETAIL\n   WANT", each.line["detail"], "\n   GOT ", b["detail"])
        as_ = each.response.headers["Content-Type"].partition(";")[0]
        if as_ != each.line.get("as", "application/json"):
            print(each.line["name"], "AS", as_)
    print("=== allow/error/answer")
    for each in exchanges:
        if each.line["name"] in different:
            continue
        if "allow" in each.line and each.response.headers.get("Allow") != each.line["allow"]:
            print(each.line["name"], "ALLOW", each.response.headers.get("Allow"), each.line["allow"])
        if "error" in each.line and each.body.get("error") != each.line["error"]:
            print(each.line["name"], "ERROR", each.body)
        if "answer" in each.line and _facts(each.body) != each.line["answer"]:
            print(each.line["name"], "ANSWER\n  WANT", each.line["answer"], "\n  GOT ", _facts(each.body))
    assert 0


def _facts(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: _facts(child)
                for name, child in value.items()
                if name not in ("_etag", "_lastModifiedDate", "changeVersion")
            }
        case list():
            return [_facts(child) for child in value]
        case str():
            return re.sub(r"[0-9a-f]{32}$", "<32 digits>", value)
    return value

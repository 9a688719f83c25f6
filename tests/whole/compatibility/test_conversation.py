"""The answers of an ODS/API 7.3, and those with `MEADOWLARK_COMPATIBILITY=ods`, to the same requests.

What stays different is in `differences.py`, with the reason.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from edfi_api.core.security.clients import create_client
from tests.conftest import http
from tests.support.databases import rolled_back
from tests.support.serving import like_the_ods
from tests.whole.compatibility import differences
from tests.whole.compatibility.conversation import Caller, Conversation, lines

_URN = "urn:ed-fi:api:"
_DIGITS = re.compile(r"[0-9a-f]{32}$")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_CHANGING = ("_etag", "_lastModifiedDate", "changeVersion")

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Exchange:
    """A line with the answer of the ODS/API, and the answer here."""

    line: dict[str, Any]
    response: Any
    body: Any

    @property
    def name(self) -> str:
        return self.line["name"]

    @property
    def outcome(self) -> tuple[int, str]:
        """Status and problem type."""
        type_ = self.body.get("type", "") if isinstance(self.body, dict) else ""
        return self.response.status_code, type_.removeprefix(_URN)

    @property
    def is_same(self) -> bool:
        return self.outcome == (self.line["status"], self.line.get("type", ""))


@pytest.fixture(scope="module")
def exchanges(django_db_setup: None, django_db_blocker: Any) -> Iterator[list[Exchange]]:
    """All requests, sent in order."""
    with django_db_blocker.unblock(), rolled_back(), like_the_ods():
        conversation = Conversation(
            {
                "full": _caller("full", "FullAccess", [255901, 255901001]),
                "bench": _caller("bench", "EdFiSandboxDefaults", [255901, 255901001, 990001]),
                "school": _caller("school", "SISVendor", [255901001, 255901]),
            }
        )
        yield list(_exchanges(conversation))


def _caller(key: str, claim_set: str, organizations: list[int]) -> Caller:
    prefixes = ("uri://ed-fi.org", "uri://gbisd.edu")
    credentials = create_client(key, claim_set, organizations, prefixes, key=key)
    form = {"grant_type": "client_credentials", "client_id": key, "client_secret": credentials.secret}
    token = http().post("/oauth/token", form, content_type="application/json").json()["access_token"]
    return Caller(key, credentials.secret, token)


def _exchanges(conversation: Conversation) -> Iterator[Exchange]:
    for line in lines():
        response = conversation.answer_to(line)
        if "status" in line:
            yield Exchange(line, response, _body(response))
        else:
            assert response.status_code in (200, 201), (line, response.content)


def _body(response: Any) -> Any:
    text = b"".join(response) if response.streaming else response.content
    return json.loads(text) if "json" in response.headers.get("Content-Type", "") and text else None


def test_status_and_problem_type(exchanges: list[Exchange]) -> None:
    different = {each.name: each.outcome for each in exchanges if not each.is_same}

    assert {name: got for name, got in different.items() if name not in differences.OUTCOMES} == {}
    assert len(exchanges) == 319


def test_what_is_listed_as_different_is(exchanges: list[Exchange]) -> None:
    same = {each.name for each in exchanges if each.is_same}

    assert differences.OUTCOMES.keys() & same == set()
    assert differences.OUTCOMES.keys() <= {each.name for each in exchanges}


def test_texts_on_which_clients_match(exchanges: list[Exchange]) -> None:
    different = _different(exchanges, "says", _said)
    different |= _different(exchanges, "detail", lambda body: body["detail"])

    assert {name: got for name, got in different.items() if name not in differences.TEXTS} == {}


def test_errors_of_the_token_endpoint(exchanges: list[Exchange]) -> None:
    assert _different(exchanges, "error", lambda body: body.get("error")) == {}


def test_media_types_of_problems(exchanges: list[Exchange]) -> None:
    problems = [each for each in exchanges if each.is_same and "type" in each.line]
    got = {each.name: each.response.headers["Content-Type"].partition(";")[0] for each in problems}

    assert got == {each.name: each.line.get("as", "application/json") for each in problems}


def test_what_is_read(exchanges: list[Exchange]) -> None:
    different = _different(exchanges, "answer", _without_changing)

    assert {name: got for name, got in different.items() if name not in differences.DOCUMENTS} == {}


def test_ids_have_32_digits_and_moments_have_microseconds(exchanges: list[Exchange]) -> None:
    written = [each.response.headers["Location"] for each in exchanges if "Location" in each.response.headers]
    read = [each.body for each in exchanges if isinstance(each.body, dict) and "_lastModifiedDate" in each.body]

    assert written
    assert [address for address in written if not _DIGITS.search(address)] == []
    assert read
    assert [body for body in read if not _MOMENT.fullmatch(body["_lastModifiedDate"])] == []


def _different(exchanges: list[Exchange], fact: str, found: Callable[[Any], Any]) -> dict[str, Any]:
    """What was found in the body where the outcome is the same and the fact is another one, by the name of the line."""
    compared = [each for each in exchanges if each.is_same and fact in each.line]
    assert compared
    return {each.name: got for each in compared if (got := found(each.body)) != each.line[fact]}


def _said(body: dict[str, Any]) -> Any:
    return body.get("validationErrors") or body.get("errors") or body["detail"]


def _without_changing(value: Any) -> Any:
    """What was read, without what differs each time."""
    match value:
        case dict():
            return {name: _without_changing(child) for name, child in value.items() if name not in _CHANGING}
        case list():
            return [_without_changing(child) for child in value]
        case str():
            return _DIGITS.sub("<32 digits>", value)
    return value

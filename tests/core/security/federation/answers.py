"""Answers to requests with the token of an identity provider."""

from typing import Any

from tests.conftest import ApiTestClient, http
from tests.support.logs import Log

UNKNOWN_TOKEN = (
    "The token was sent as it should be, but this server does not know it, or no longer: tokens expire, and are "
    "revoked with the secret of their client. POST /oauth/token gives a token for key and secret. Send the member "
    "access_token of its answer in the header Authorization: Bearer TOKEN."
)
INVALID_TOKEN = {
    "detail": "The caller could not be authenticated.",
    "type": "urn:ed-fi:api:security:authentication",
    "title": "Authentication Failed",
    "status": 401,
    "errors": ["Invalid token"],
}


def response_to(token: str) -> Any:
    """The response to a request with the token."""
    return ApiTestClient(token).get("/students")


def status(token: str) -> int:
    """The status of a request with the token."""
    return int(response_to(token).status_code)


def refusal(token: str, log: Log, path: str = "/data/ed-fi/students") -> tuple[object, object]:
    """The reason and the issuer in the audit log; whatever they are, the client sees the same."""
    response = http().get(path, HTTP_AUTHORIZATION=f"Bearer {token}")

    body = response.json()
    assert body == INVALID_TOKEN | {"correlationId": body["correlationId"], "hints": [UNKNOWN_TOKEN]}, body
    assert response["WWW-Authenticate"] == 'Bearer error="invalid_token"', response.headers
    line = log.audit[-1]
    assert line["event"] == "denied", line
    assert token not in log.text
    return line["reason"], line.get("issuer")

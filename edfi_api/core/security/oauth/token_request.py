"""HTTP request to the token endpoint → key, secret and scope.

Clients send their credentials in a Basic header or in the body, and the body as a form or as JSON; the toolkit reads
forms only. Malformed requests are refused with the OAuth errors (RFC 6749 §5.2) of Ed-Fi's servers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from django.http import HttpRequest
from oauthlib.oauth2.rfc6749.errors import InvalidClientError, InvalidRequestError, UnsupportedGrantTypeError

from edfi_api.common.request_body import (
    ACCEPTED_CODINGS,
    BodyIncomplete,
    BodyTooLong,
    BodyUnreadable,
    UnsupportedCharset,
    UnsupportedCoding,
    read_body,
)
from edfi_api.core.security.credentials import Credentials, in_basic_header

GRANT_TYPE = "client_credentials"
# A real request has a few hundred bytes.
_LONGEST_BODY = 16 * 1024
_MOST_FORM_FIELDS = 100
_JSON_OBJECT = msgspec.json.Decoder(dict[str, Any])


class CredentialsMissing(InvalidRequestError):  # type: ignore[misc]  # oauthlib is untyped
    """The `missing` fields were not sent, or are empty. RFC 6749 specifies invalid_client; this is the code of Ed-Fi's
    older server, which clients expect."""

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__("Client credentials are missing.", status_code=401)
        self.missing = missing


class CredentialsMisplaced(InvalidClientError):  # type: ignore[misc]  # oauthlib is untyped
    """No one knows whether key and secret are right: they are in two places, or the header Authorization has another
    scheme, such as that of a token which a library adds to every request."""


@dataclass(frozen=True)
class TokenRequest:
    """A parsed token request. `scope` is empty, or the id of the token's only education organization."""

    credentials: Credentials
    scope: str


@dataclass
class RepeatedParameter(ValueError):
    """A parameter was sent twice, perhaps in two spellings."""

    name: str


class _Body(msgspec.Struct):
    grant_type: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    scope: str | int | None = None


def read_token_request(request: HttpRequest) -> TokenRequest:
    """Parse the request; `OAuth2Error` if it is malformed or requests another grant type."""
    # Read the body first: an unread body would delay the next request on the same connection.
    body = _read_body(request)
    in_header = _basic_credentials(request.headers.get("Authorization", "").strip())
    credentials = _the_credentials(in_header, body)
    if body.grant_type != GRANT_TYPE:
        raise UnsupportedGrantTypeError(f"The grant type must be {GRANT_TYPE}.")
    return TokenRequest(credentials, "" if body.scope is None else str(body.scope))


def _basic_credentials(header: str) -> Credentials | None:
    if not header:
        return None
    try:
        found = in_basic_header(header)
    except ValueError:
        raise InvalidRequestError("The Authorization header cannot be read.") from None
    if found is None:
        raise CredentialsMisplaced("The scheme of the Authorization header must be Basic.")
    return found


def _read_body(request: HttpRequest) -> _Body:
    try:
        sent = read_body(request, _LONGEST_BODY)
    except BodyTooLong:
        raise InvalidRequestError("The body is too long for a token request.", status_code=413) from None
    except BodyIncomplete:
        raise InvalidRequestError("The body did not come as announced.") from None
    except BodyUnreadable as error:
        raise InvalidRequestError(f"The body cannot be read: {error.reason}") from None
    except UnsupportedCoding as error:
        text = f"Content-Encoding: {error.coding[:100]} is not one of: {ACCEPTED_CODINGS}."
        raise InvalidRequestError(text, status_code=415) from None
    except UnsupportedCharset as error:
        text = f"The charset {error.charset[:100]} is not read; send UTF-8."
        raise InvalidRequestError(text, status_code=415) from None
    decode = _DECODERS.get(request.content_type or "")
    if decode is None:
        raise InvalidRequestError(f"The body must be one of: {', '.join(filter(None, _DECODERS))}.")
    try:
        return decode(sent)
    except RepeatedParameter as repeated:
        raise InvalidRequestError(f"The parameter {repeated.name} was sent more than once.") from None
    except (ValueError, RecursionError):
        raise InvalidRequestError("The body cannot be read.") from None


def _decode_form(body: bytes) -> _Body:
    # Parameters without a value count as absent (RFC 6749 §3.2), so they are not kept.
    pairs = parse_qsl(body.decode(), max_num_fields=_MOST_FORM_FIELDS)
    return msgspec.convert(in_lower_case(pairs), _Body)


def _decode_json(body: bytes) -> _Body:
    return msgspec.convert(in_lower_case(_JSON_OBJECT.decode(body).items()), _Body)


def in_lower_case(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Parameters by their names in lower case: a scope must not be ignored for the case of its name, which would make a
    token that permits more. Raises RepeatedParameter for two spellings of one name, too."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name.lower() in fields:
            raise RepeatedParameter(name.lower())
        fields[name.lower()] = value
    return fields


# A body without a content type is read as a form, the format of RFC 6749.
_DECODERS: dict[str, Callable[[bytes], _Body]] = {
    "": _decode_form,
    "application/x-www-form-urlencoded": _decode_form,
    "application/json": _decode_json,
}


def _the_credentials(in_header: Credentials | None, body: _Body) -> Credentials:
    """The credentials, which may be sent only once; after a header, the body may repeat the key (RFC 6749 §3.2.1)."""
    if in_header is None:
        if not body.client_id or not body.client_secret:
            raise CredentialsMissing([name for name in ("client_id", "client_secret") if not getattr(body, name)])
        return Credentials(body.client_id, body.client_secret)
    if body.client_secret or body.client_id not in (None, "", in_header.key):
        raise CredentialsMisplaced("Credentials belong in the Authorization header or in the body, not in both.")
    return in_header

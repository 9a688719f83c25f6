"""Metadata and signing keys that an identity provider publishes: JSON over HTTP from configured hosts only, bounded in
time and size.

The provider's metadata leads to its JSON Web Key Set (RFC 7517). Nothing in a token does. All of it raises
FetchFailed. Redirects are not followed. Proxies are those of the usual environment variables.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlencode

import jwt
import orjson

from edfi_api.common.http_client import AnswerTooLarge, HttpClient, HttpFailed, proxy_of
from edfi_api.core.security.issuers import Algorithm, Issuer, is_safe

_MOST_BYTES = 256 * 1024
_ERROR_CODE = re.compile(r"[a-z_]{1,60}", re.ASCII)
SECONDS = 3
_MOST_KEYS = 100


class FetchFailed(Exception):
    """The provider does not answer, or with something else. The message is for the log."""


def fetch_json(
    address: str,
    deadline: float,
    *,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
) -> Mapping[str, Any]:
    """The JSON object at the address, or that a form sent there is answered with; `deadline` as `monotonic` counts."""
    body = None if form is None else urlencode(form).encode()
    common = {} if form is None else {"Content-Type": "application/x-www-form-urlencoded"}
    left = max(0.001, deadline - monotonic())
    try:
        with HttpClient(seconds=left, proxy=proxy_of(address)) as client:
            answer = client.request(
                "GET" if form is None else "POST", address, body, common | dict(headers or {}), most_bytes=_MOST_BYTES
            )
        if answer.status != 200:
            raise FetchFailed(f"{address} answered {answer.status} {_error_code(answer.body)}".rstrip())
        found = orjson.loads(answer.body)
    except AnswerTooLarge as error:
        raise FetchFailed(f"{address} has more than {_MOST_BYTES} bytes") from error
    except HttpFailed as error:
        raise FetchFailed(f"{address} cannot be reached: {error}") from error
    except orjson.JSONDecodeError as error:
        raise FetchFailed(f"{address} is not JSON") from error
    if not isinstance(found, dict):
        raise FetchFailed(f"{address} is not a JSON object")
    return found


def _error_code(body: bytes) -> str:
    """The error that a token endpoint names (RFC 6749 §5.2); empty for other answers."""
    try:
        code = orjson.loads(body)["error"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""
    return code if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""


@dataclass(frozen=True)
class Key:
    """A public key, bound to each of the issuer's algorithms that it fits."""

    kid: str | None
    by_algorithm: Mapping[str, jwt.PyJWK]


def fetch_keys(issuer: Issuer) -> tuple[Key, ...]:
    """The keys for signatures that the issuer publishes now."""
    deadline = monotonic() + SECONDS
    address = issuer.jwks_uri or _address_of_keys(issuer, deadline)
    published = fetch_key_set(address, deadline)
    return tuple(key for each in published if (key := usable_key(each, issuer.algorithms)) is not None)


def fetch_key_set(address: str, deadline: float) -> list[Any]:
    """All keys at the address, as JWK. `deadline` is as `monotonic` counts, here and below."""
    published = fetch_json(address, deadline).get("keys")
    if not isinstance(published, list) or len(published) > _MOST_KEYS:
        raise FetchFailed(f"{address} is not a set of at most {_MOST_KEYS} keys")
    return published


def fetch_metadata(issuer: str, address: str, deadline: float) -> Mapping[str, Any]:
    """Return what the provider says of itself (OpenID Connect Discovery 1.0)."""
    metadata = fetch_json(address, deadline)
    if metadata.get("issuer") != issuer:
        raise FetchFailed(f"{address} is of another issuer")
    return metadata


def endpoint(metadata: Mapping[str, Any], name: str, address: str) -> str:
    """The address that the metadata from `address` have under this name."""
    found = metadata.get(name)
    if not isinstance(found, str) or not is_safe(found):
        raise FetchFailed(f"{address} has no {name} with https")
    return found


def _address_of_keys(issuer: Issuer, deadline: float) -> str:
    address = issuer.metadata_address
    return endpoint(fetch_metadata(issuer.issuer, address, deadline), "jwks_uri", address)


def usable_key(published: Any, algorithms: tuple[Algorithm, ...]) -> Key | None:
    """Return the key, or None for a key that is not for signatures, or for none of the algorithms."""
    if not isinstance(published, dict) or published.get("use", "sig") != "sig" or "d" in published:
        return None
    own = published.get("alg")
    matching: dict[str, jwt.PyJWK] = {
        each: key for each in algorithms if own in (None, each) and (key := _bound(published, each))
    }
    kid = published.get("kid")
    return Key(kid if isinstance(kid, str) else None, matching) if matching else None


def _bound(published: dict[str, Any], algorithm: str) -> jwt.PyJWK | None:
    """The key for one algorithm; None if it is of another type."""
    try:
        return jwt.PyJWK(published, algorithm)
    except jwt.PyJWTError:
        return None

"""The OpenID provider of the admin: its metadata, tokens for a code, keys and claims of a person.

Each answer is limited in time and size, and an answer with a redirection is refused.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import quote_plus

import requests
from cachetools import TTLCache, cached
from urllib3.exceptions import HTTPError

from edfi_api.conf import api_settings

# To connect, and for each part of the answer.
_TIMEOUT_SECONDS = (3, 5)
_MOST_BYTES = 256 * 1024
_METADATA_SECONDS = 600
# Codes of errors in an answer of a token endpoint are short (RFC 6749 §5.2).
_LONGEST_ERROR = 60

Claims = dict[str, Any]


class ProviderUnusable(Exception):
    """The provider does not answer, or not as OpenID Connect says; the text says what it did."""


@dataclass(frozen=True)
class Metadata:
    """What is used of the provider's metadata (OpenID Connect Discovery 1.0 §3); empty where it has none."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str
    end_session_endpoint: str
    client_authentication: tuple[str, ...]


def metadata() -> Metadata:
    """Kept for ten minutes. Raises ProviderUnusable."""
    return _metadata(api_settings.SIGN_IN_ISSUER)


@cached(TTLCache(maxsize=4, ttl=_METADATA_SECONDS), lock=Lock())
def _metadata(issuer: str) -> Metadata:
    address = f"{issuer.removesuffix('/')}/.well-known/openid-configuration"
    answer = _ask("GET", address)
    if answer.get("issuer") != issuer:
        raise ProviderUnusable(f"{address} is the metadata of another issuer: {answer.get('issuer')!r}")
    endpoint = _endpoints(address, answer)
    return Metadata(
        authorization_endpoint=endpoint("authorization_endpoint", True),
        token_endpoint=endpoint("token_endpoint", True),
        jwks_uri=endpoint("jwks_uri", True),
        userinfo_endpoint=endpoint("userinfo_endpoint", False),
        end_session_endpoint=endpoint("end_session_endpoint", False),
        # Discovery 1.0 §3: the default of providers that do not say.
        client_authentication=tuple(answer.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]),
    )


def _endpoints(address: str, answer: Mapping[str, Any]) -> Callable[[str, bool], str]:
    def endpoint(name: str, is_required: bool) -> str:
        found = answer.get(name) or ""
        if (found or is_required) and not str(found).startswith(("https://", "http://")):
            raise ProviderUnusable(f"{address} has no address as {name}")
        return str(found)

    return endpoint


def tokens(code: str, redirect_uri: str, code_verifier: str) -> tuple[str, str]:
    """The ID token and the access token for a code (OpenID Connect Core 1.0 §3.1.3)."""
    client_id, secret = api_settings.SIGN_IN_CLIENT_ID, api_settings.SIGN_IN_CLIENT_SECRET
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": code_verifier,
    }
    authentication = None
    if "client_secret_basic" in metadata().client_authentication:
        # RFC 6749 §2.3.1: both are encoded as in a form.
        authentication = (quote_plus(client_id), quote_plus(secret))
    else:
        form |= {"client_id": client_id, "client_secret": secret}
    answer = _ask("POST", metadata().token_endpoint, data=form, auth=authentication)
    id_token, access_token = answer.get("id_token"), answer.get("access_token")
    if not isinstance(id_token, str) or not isinstance(access_token, str):
        raise ProviderUnusable(f"{metadata().token_endpoint} sent no ID token")
    return id_token, access_token


def keys() -> list[Any]:
    """The public keys of the provider, as JWK. They are not kept: logins are rare, and keys are rotated."""
    found = _ask("GET", metadata().jwks_uri).get("keys")
    return found if isinstance(found, list) else []


def userinfo(access_token: str, subject: str) -> Claims:
    """Further claims of the person; none where the provider has no such endpoint.

    Raises ProviderUnusable also for those of another subject (OpenID Connect Core 1.0 §5.3.2).
    """
    address = metadata().userinfo_endpoint
    if not address:
        return {}
    claims = _ask("GET", address, headers={"Authorization": f"Bearer {access_token}"})
    if claims.get("sub") != subject:
        raise ProviderUnusable(f"{address} answered about another subject")
    return claims


def _ask(method: str, address: str, **more: Any) -> dict[str, Any]:
    """The JSON object that is answered."""
    try:
        with requests.request(
            method, address, timeout=_TIMEOUT_SECONDS, stream=True, allow_redirects=False, **more
        ) as response:
            body = response.raw.read(_MOST_BYTES + 1, decode_content=True)
    except (requests.RequestException, HTTPError) as error:
        raise ProviderUnusable(f"{address} cannot be reached: {type(error).__name__}") from error
    answer = _json_object(body) if len(body) <= _MOST_BYTES else None
    if response.status_code != 200:
        code = str((answer or {}).get("error", ""))[:_LONGEST_ERROR]
        raise ProviderUnusable(f"{address} answered with status {response.status_code} {code}".rstrip())
    if answer is None:
        raise ProviderUnusable(f"{address} answered with something else than a small JSON object")
    return answer


def _json_object(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

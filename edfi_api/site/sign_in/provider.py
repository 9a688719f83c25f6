"""The OpenID provider of the admin: its metadata, tokens for a code, keys and claims of a person, and the validation of
ID tokens (OpenID Connect Core 1.0, section 3.1.3.7).

What fetches raises FetchFailed if the provider does not answer, or not as OpenID Connect says.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from secrets import compare_digest
from threading import Lock
from time import monotonic
from typing import Any, get_args
from urllib.parse import quote_plus

import jwt
from cachetools import TTLCache, cached

from edfi_api.common.conf import api_settings
from edfi_api.core.security.federation.fetching import (
    FetchFailed,
    endpoint,
    fetch_json,
    fetch_key_set,
    fetch_metadata,
    usable_key,
)
from edfi_api.core.security.issuers import Algorithm, well_known_address

# The limit of each request to the provider.
_SECONDS = 5
_METADATA_SECONDS = 600


@dataclass(frozen=True)
class Metadata:
    """The part of the provider's metadata that is used (OpenID Connect Discovery 1.0, section 3); empty where it has
    none."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str
    end_session_endpoint: str
    client_authentication: tuple[str, ...]


def metadata() -> Metadata:
    """Kept for ten minutes."""
    return _metadata(api_settings.SIGN_IN_ISSUER)


@cached(TTLCache(maxsize=4, ttl=_METADATA_SECONDS), lock=Lock())
def _metadata(issuer: str) -> Metadata:
    address = well_known_address(issuer)
    found = fetch_metadata(issuer, address, _deadline())
    # Discovery 1.0, section 3: the default of providers that do not say.
    methods = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return Metadata(
        authorization_endpoint=endpoint(found, "authorization_endpoint", address),
        token_endpoint=endpoint(found, "token_endpoint", address),
        jwks_uri=endpoint(found, "jwks_uri", address),
        userinfo_endpoint=_optional_endpoint(found, "userinfo_endpoint", address),
        end_session_endpoint=_optional_endpoint(found, "end_session_endpoint", address),
        client_authentication=tuple(methods),
    )


def _optional_endpoint(found: Mapping[str, Any], name: str, address: str) -> str:
    return endpoint(found, name, address) if found.get(name) else ""


def tokens(code: str, redirect_uri: str, code_verifier: str) -> tuple[str, str]:
    """The ID token and the access token for a code (OpenID Connect Core 1.0, section 3.1.3)."""
    client_id, secret = api_settings.SIGN_IN_CLIENT_ID, api_settings.SIGN_IN_CLIENT_SECRET
    address = metadata().token_endpoint
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": code_verifier,
    }
    headers = {}
    if "client_secret_basic" in metadata().client_authentication:
        # RFC 6749 §2.3.1: both are encoded as in a form.
        pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
        headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": client_id, "client_secret": secret}
    found = fetch_json(address, _deadline(), headers=headers, form=form)
    id_token, access_token = found.get("id_token"), found.get("access_token")
    if not isinstance(id_token, str) or not isinstance(access_token, str):
        raise FetchFailed(f"{address} sent no ID token")
    return id_token, access_token


def keys() -> list[Any]:
    """The public keys of the provider, as JWK. They are not kept: logins are rare, and keys are rotated."""
    return fetch_key_set(metadata().jwks_uri, _deadline())


def userinfo(access_token: str, subject: str) -> Mapping[str, Any]:
    """Return further claims of the person; none where the provider has no such endpoint."""
    address = metadata().userinfo_endpoint
    if not address:
        return {}
    claims = fetch_json(address, _deadline(), headers={"Authorization": f"Bearer {access_token}"})
    # OpenID Connect Core 1.0, section 5.3.2.
    if claims.get("sub") != subject:
        raise FetchFailed(f"{address} answered about another subject")
    return claims


def _deadline() -> float:
    return monotonic() + _SECONDS


# The algorithms with a public key. With the others, a public key could be taken for a shared secret.
_ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
_SKEW_SECONDS = 30


def validated(id_token: str, keys: Iterable[Any], nonce: str) -> dict[str, Any]:
    """The claims of the token, which one of the provider's keys has signed for this login. Raises jwt.PyJWTError."""
    header = jwt.get_unverified_header(id_token)
    claims = jwt.decode(
        id_token,
        _key(header, keys),
        algorithms=[header["alg"]],
        audience=api_settings.SIGN_IN_CLIENT_ID,
        issuer=api_settings.SIGN_IN_ISSUER,
        leeway=_SKEW_SECONDS,
        options={"require": ["iss", "sub", "aud", "exp", "iat", "nonce"]},
    )
    if not compare_digest(str(claims["nonce"]).encode(), nonce.encode()):
        raise jwt.InvalidTokenError("the nonce is that of another login")
    if claims.get("azp", api_settings.SIGN_IN_CLIENT_ID) != api_settings.SIGN_IN_CLIENT_ID:
        raise jwt.InvalidTokenError("it was issued to another client")
    if isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and "azp" not in claims:
        raise jwt.InvalidTokenError("it has several audiences, and does not say to which it was issued")
    return claims


def _key(header: Mapping[str, Any], keys: Iterable[Any]) -> Any:
    algorithm = header.get("alg")
    if algorithm not in _ALGORITHMS:
        raise jwt.InvalidTokenError("its algorithm is not one with a public key")
    for key in (usable_key(each, _ALGORITHMS) for each in keys):
        if key and algorithm in key.by_algorithm and header.get("kid", key.kid) == key.kid:
            return key.by_algorithm[algorithm]
    raise jwt.InvalidTokenError("the provider has no such key")

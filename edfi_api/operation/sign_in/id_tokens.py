"""Validation of ID tokens (OpenID Connect Core 1.0 §3.1.3.7)."""

from collections.abc import Iterable, Mapping
from secrets import compare_digest
from typing import Any

import jwt

from edfi_api.conf import api_settings

# Those with a public key. With the others, a public key could be taken for a shared secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_SKEW_SECONDS = 30
_KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


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
    if algorithm not in ALGORITHMS:
        raise jwt.InvalidTokenError("its algorithm is not one with a public key")
    for key in keys:
        if _is_for(key, header, str(algorithm)):
            return jwt.PyJWK.from_dict(key, str(algorithm)).key
    raise jwt.InvalidTokenError("the provider has no such key")


def _is_for(key: Any, header: Mapping[str, Any], algorithm: str) -> bool:
    """Whether the key has the id that the header names, and is for this kind of signatures."""
    return (
        isinstance(key, dict)
        and key.get("kty") == _KEY_TYPES[algorithm[:2]]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and header.get("kid", key.get("kid")) == key.get("kid")
    )

"""Validation of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7)."""

from collections.abc import Iterable, Mapping
from secrets import compare_digest
from typing import Any, get_args

import jwt

from edfi_api.conf import api_settings
from edfi_api.security.federation.fetching import usable_key
from edfi_api.security.federation.issuers import Algorithm

# Those with a public key. With the others, a public key could be taken for a shared secret.
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

"""The signing keys that an identity provider publishes: from configured hosts only.

The provider's metadata leads to its JSON Web Key Set (RFC 7517). Nothing in a token does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import jwt

from .http import FetchFailed, fetch_json
from .issuers import Algorithm, Issuer, is_safe

SECONDS = 3
_MOST_KEYS = 100


@dataclass(frozen=True)
class Key:
    """A public key, bound to each of the issuer's algorithms that it fits."""

    kid: str | None
    by_algorithm: Mapping[str, jwt.PyJWK]


def fetch_keys(issuer: Issuer) -> tuple[Key, ...]:
    """The keys for signatures that the issuer publishes now. Raises FetchFailed."""
    deadline = monotonic() + SECONDS
    address = issuer.jwks_uri or _address_of_keys(issuer, deadline)
    published = fetch_json(address, deadline).get("keys")
    if not isinstance(published, list) or len(published) > _MOST_KEYS:
        raise FetchFailed(f"{address} is no set of at most {_MOST_KEYS} keys")
    return tuple(key for each in published if (key := usable_key(each, issuer.algorithms)) is not None)


def _address_of_keys(issuer: Issuer, deadline: float) -> str:
    metadata = fetch_json(issuer.metadata_address, deadline)
    if metadata.get("issuer") != issuer.issuer:
        raise FetchFailed(f"{issuer.metadata_address} is of another issuer")
    address = metadata.get("jwks_uri")
    if not isinstance(address, str) or not is_safe(address):
        raise FetchFailed(f"{issuer.metadata_address} has no jwks_uri with https")
    return address


def usable_key(published: Any, algorithms: tuple[Algorithm, ...]) -> Key | None:
    """None for a key that is not for signatures, or for none of the algorithms."""
    if not isinstance(published, dict) or published.get("use", "sig") != "sig" or "d" in published:
        return None
    own = published.get("alg")
    fitting: dict[str, jwt.PyJWK] = {
        each: key for each in algorithms if own in (None, each) and (key := _bound(published, each))
    }
    kid = published.get("kid")
    return Key(kid if isinstance(kid, str) else None, fitting) if fitting else None


def _bound(published: dict[str, Any], algorithm: str) -> jwt.PyJWK | None:
    """The key for one algorithm; None if it is of another type."""
    try:
        return jwt.PyJWK(published, algorithm)
    except jwt.PyJWTError:
        return None

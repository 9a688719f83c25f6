"""Metadata and signing keys that an identity provider publishes: from configured hosts only.

The provider's metadata leads to its JSON Web Key Set (RFC 7517). Nothing in a token does. All of it raises FetchFailed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import jwt

from .http_client import FetchFailed, fetch_json
from .issuers import Algorithm, Issuer, is_safe

SECONDS = 3
_MOST_KEYS = 100


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
    """What the provider says of itself (OpenID Connect Discovery 1.0)."""
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

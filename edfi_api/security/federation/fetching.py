"""The signing keys that an identity provider publishes, over HTTP: bounded in time and size, to configured hosts only.

The provider's metadata leads to its JSON Web Key Set (RFC 7517). Nothing in a token does, and redirects are not
followed. Proxies are those of the usual environment variables.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import jwt
import orjson
from urllib3 import BaseHTTPResponse, PoolManager, ProxyManager, Timeout
from urllib3.exceptions import HTTPError

from .issuers import Algorithm, Issuer, is_safe

SECONDS = 3
_MOST_BYTES = 256 * 1024
_MOST_KEYS = 100
_BLOCK = 16 * 1024


class FetchFailed(Exception):
    """The keys cannot be had at the moment. The message is for the log."""


@dataclass(frozen=True)
class Key:
    """A public key, bound to each of the issuer's algorithms that it fits."""

    kid: str | None
    by_algorithm: Mapping[str, jwt.PyJWK]


def fetch_keys(issuer: Issuer) -> tuple[Key, ...]:
    """The keys for signatures that the issuer publishes now. Raises FetchFailed."""
    deadline = monotonic() + SECONDS
    address = issuer.jwks_uri or _address_of_keys(issuer, deadline)
    published = _fetch(address, deadline).get("keys")
    if not isinstance(published, list) or len(published) > _MOST_KEYS:
        raise FetchFailed(f"{address} is no set of at most {_MOST_KEYS} keys")
    return tuple(key for each in published if (key := _key(each, issuer.algorithms)) is not None)


def _address_of_keys(issuer: Issuer, deadline: float) -> str:
    metadata = _fetch(issuer.metadata_address, deadline)
    if metadata.get("issuer") != issuer.issuer:
        raise FetchFailed(f"{issuer.metadata_address} is of another issuer")
    address = metadata.get("jwks_uri")
    if not isinstance(address, str) or not is_safe(address):
        raise FetchFailed(f"{issuer.metadata_address} has no jwks_uri with https")
    return address


def _fetch(address: str, deadline: float) -> Mapping[str, Any]:
    """The JSON object at the address."""
    timeout = Timeout(total=max(0.001, deadline - monotonic()))
    try:
        with _pool(address) as pool:
            response = pool.request(
                "GET",
                address,
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                preload_content=False,
                redirect=False,
                retries=False,
                timeout=timeout,
            )
            if response.status != 200:
                raise FetchFailed(f"{address} answered {response.status}")
            found = orjson.loads(_body(response, address, deadline))
    except (HTTPError, OSError) as error:
        raise FetchFailed(f"{address} cannot be reached: {error}") from error
    except orjson.JSONDecodeError as error:
        raise FetchFailed(f"{address} is not JSON") from error
    if not isinstance(found, dict):
        raise FetchFailed(f"{address} is no JSON object")
    return found


def _pool(address: str) -> PoolManager:
    parts = urlsplit(address)
    proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    return ProxyManager(proxy) if proxy else PoolManager()


def _body(response: BaseHTTPResponse, address: str, deadline: float) -> bytes:
    body = b""
    # Whatever has arrived, at most so much of it: a slow sender cannot hold one read for longer than the deadline.
    while block := response.read1(_BLOCK):
        body += block
        if len(body) > _MOST_BYTES:
            raise FetchFailed(f"{address} has more than {_MOST_BYTES} bytes")
        if monotonic() > deadline:
            raise FetchFailed(f"{address} takes longer than {SECONDS} seconds")
    return body


def _key(published: Any, algorithms: tuple[Algorithm, ...]) -> Key | None:
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

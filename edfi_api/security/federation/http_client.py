"""JSON from an identity provider over HTTP, bounded in time and size.

Redirects are not followed. Proxies are those of the usual environment variables.
"""

import re
from collections.abc import Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import orjson
from urllib3 import BaseHTTPResponse, PoolManager, ProxyManager, Timeout
from urllib3.exceptions import HTTPError

_MOST_BYTES = 256 * 1024
_BLOCK = 16 * 1024
_ERROR_CODE = re.compile(r"[a-z_]{1,60}", re.ASCII)


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
    timeout = Timeout(total=max(0.001, deadline - monotonic()))
    try:
        with _pool(address) as pool:
            response = pool.request(
                "GET" if form is None else "POST",
                address,
                headers={"Accept": "application/json", "Accept-Encoding": "identity"}
                | ({} if form is None else {"Content-Type": "application/x-www-form-urlencoded"})
                | dict(headers or {}),
                body=None if form is None else urlencode(form),
                preload_content=False,
                redirect=False,
                retries=False,
                timeout=timeout,
            )
            if response.status != 200:
                reason = _error_code(_body(response, address, deadline))
                raise FetchFailed(f"{address} answered {response.status} {reason}".rstrip())
            found = orjson.loads(_body(response, address, deadline))
    except (HTTPError, OSError) as error:
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
            raise FetchFailed(f"{address} takes longer than it may")
    return body

"""Two vendors that do not exist, whose clients send documents to a running demonstration: some are refused, and one of
these is mended. So the pages of refusals have something to show, which the API itself has written there.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

_SECONDS = 30


@dataclass(frozen=True)
class DemoVendor:
    """A vendor's client, and what it posts: paths below `/data`, and bodies."""

    name: str
    key: str
    secret: str
    requests: list[tuple[str, dict[str, Any]]]


def send(address: str, vendors: list[DemoVendor]) -> None:
    """Post everything to the server at this address. Answers are not looked at: the server keeps what it refuses."""
    for vendor in vendors:
        token = _token(address, vendor)
        for path, body in vendor.requests:
            _post(f"{address}/data{path}", json.dumps(body).encode(), {"Authorization": f"Bearer {token}"})


def _token(address: str, vendor: DemoVendor) -> str:
    basic = base64.b64encode(f"{vendor.key}:{vendor.secret}".encode()).decode()
    form = urlencode({"grant_type": "client_credentials"}).encode()
    answer = _post(f"{address}/oauth/token", form, {"Authorization": f"Basic {basic}"}, "x-www-form-urlencoded")
    return str(json.loads(answer)["access_token"])


def _post(address: str, content: bytes, headers: Mapping[str, str], kind: str = "json") -> bytes:
    request = urllib.request.Request(  # noqa: S310  The address is our own.
        address, data=content, headers={**headers, "Content-Type": f"application/{kind}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310  Likewise.
            return bytes(answer.read())
    except urllib.error.HTTPError as refused:
        return refused.read()

"""The client address of a request."""

import re
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from django.http import HttpRequest

from edfi_api.common.conf import api_settings

# The prefix length that one IPv6 subscriber usually has, with a different address for each request if wanted.
_IPV6_SUBSCRIBER = 64
# What proxies write in addition to an address: quotation marks, brackets and a port. RFC 7239 has all of it for IPv6.
_WITH_PORT = re.compile(r"\[(?P<bracketed>[^\[\]]+)\](?::\d*)?|(?P<plain>[^:]+):\d*")
# Headers that a proxy adds.
_OF_PROXIES = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA", "HTTP_X_FORWARDED_HOST")


def remote_address(request: HttpRequest) -> str:
    """The client's address; behind a proxy the last one in `X-Forwarded-For`, which the proxy itself has added. Without
    port and zone, and in one form for each address, so that each client has one."""
    return address_in(request.META)


def address_in(variables: Mapping[str, Any]) -> str:
    """`remote_address` of the request with these variables of WSGI."""
    own: str = variables.get("REMOTE_ADDR", "")
    if api_settings.BEHIND_PROXY:
        forwarded = _parsed(variables.get("HTTP_X_FORWARDED_FOR", "").rstrip(" \t,").rpartition(",")[2])
        if forwarded is not None:
            return str(forwarded)
    return own if own.isascii() and own.replace(".", "").isdecimal() else str(_parsed(own) or own)


def is_from_this_host(request: HttpRequest) -> bool:
    """Return whether the request comes from the host of the server, and no proxy has handed it over."""
    address = _parsed(request.META.get("REMOTE_ADDR", ""))
    is_forwarded = any(request.META.get(header) for header in _OF_PROXIES)
    return address is not None and address.is_loopback and not is_forwarded


def subscriber(address: str) -> str:
    """The key of rate limits: an IPv4 address, or the network of an IPv6 address."""
    parsed = _parsed(address)
    if parsed is None or parsed.version == 4:
        return address if parsed is None else str(parsed)
    return str(ip_network((parsed, _IPV6_SUBSCRIBER), strict=False))


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """The address in the text, which may have a port, brackets, quotation marks and a zone; that of IPv4 which an IPv6
    address stands for."""
    bare = text.strip().strip('"').strip()
    if found := _WITH_PORT.fullmatch(bare):
        bare = found["bracketed"] or found["plain"]
    try:
        address = ip_address(bare.partition("%")[0].strip())
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address

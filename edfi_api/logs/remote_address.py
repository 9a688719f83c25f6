"""The client address of a request."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.http import HttpRequest

from edfi_api.conf import api_settings

# The prefix length that one IPv6 subscriber usually has, with a different address for each request if wanted.
_IPV6_SUBSCRIBER = 64


def remote_address(request: HttpRequest) -> str:
    """The client's address; behind a proxy the last one in `X-Forwarded-For`, which the proxy itself has added."""
    own: str = request.META.get("REMOTE_ADDR", "")
    if not api_settings.BEHIND_PROXY:
        return own
    forwarded: str = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
    return forwarded if _parsed(forwarded) else own


def subscriber(address: str) -> str:
    """The key of rate limits: an IPv4 address, or the network of an IPv6 address."""
    parsed = _parsed(address)
    if parsed is None or parsed.version == 4:
        return address
    return str(ip_network((parsed, _IPV6_SUBSCRIBER), strict=False))


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(address)
    except ValueError:
        return None

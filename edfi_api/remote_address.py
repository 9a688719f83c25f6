"""Where a request comes from."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.http import HttpRequest

from edfi_api.conf import api_settings

# What one subscriber has of IPv6; he could use a new address of it for each request.
_IPV6_SUBSCRIBER = 64


def remote_address(request: HttpRequest) -> str:
    """The address of the caller; behind a proxy the last one in `X-Forwarded-For`, which the proxy itself has added."""
    own = request.META.get("REMOTE_ADDR", "")
    if not api_settings.BEHIND_PROXY:
        return own
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
    return forwarded if _parsed(forwarded) else own


def subscriber(address: str) -> str:
    """The addresses that count as one caller."""
    parsed = _parsed(address)
    if parsed is None or parsed.version == 4:
        return address
    return str(ip_network((parsed, _IPV6_SUBSCRIBER), strict=False))


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(address)
    except ValueError:
        return None

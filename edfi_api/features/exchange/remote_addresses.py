"""Which addresses of other APIs may be called: https, and hosts of MEADOWLARK_STORE_HOSTS.

Whoever may enter a connection could otherwise find out which ports of the network are open.
"""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import is_printable
from edfi_api.core.data_stores.connection_strings import is_allowed

_LOOPBACK = "localhost"


@dataclass
class AddressRefused(Exception):
    """An address that is not called; `reason` is for people and does not quote it."""

    reason: str


def checked_address(address: str, *, allows_plain_http: bool = True) -> SplitResult:
    """The parts of an address. Raises AddressRefused unless it is of https, or of http to this host; with
    `allows_plain_http` to any."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise AddressRefused("It is not an address.") from None
    if not is_printable(address) or parts.scheme not in ("http", "https") or not host:
        raise AddressRefused("It is not an address that begins with https://.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("User and password do not belong into it.")
    if not is_allowed(host, api_settings.STORE_HOSTS):
        raise AddressRefused("MEADOWLARK_STORE_HOSTS does not name its host.")
    if parts.scheme == "http" and not (allows_plain_http or _is_loopback(host)):
        raise AddressRefused("It begins with http://, which is for this host only, unless --insecure is given.")
    return parts


def origin(parts: SplitResult) -> tuple[str, str, int]:
    """Scheme, host and port."""
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _is_loopback(host: str) -> bool:
    if host.lower() == _LOOPBACK:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

"""The file of MEADOWLARK_OIDC_ISSUERS → the identity providers whose access tokens are accepted.

A JSON array of objects; see meadowlark/docs/operate/identity-providers.md. It is read once per process.
"""

import ipaddress
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.conf import api_settings

LONGEST_ISSUER = 255
_MOST_SKEW = 120

Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]  # fmt: skip
Text = Annotated[str, msgspec.Meta(min_length=1)]
Texts = tuple[Text, ...]
Positive = Annotated[int, msgspec.Meta(gt=0)]

# A dotted path; names with dots are in quotes: realm_access.roles, "https://edfi.example.org/roles".
_STEP = r'(?:"[^"]+"|[^".]+)'
_PATH = re.compile(rf"{_STEP}(?:\.{_STEP})*")
_STEPS = re.compile(_STEP)


class IssuersFileInvalid(ImproperlyConfigured):
    """The file cannot be read or is not of its form. The message names the place."""


class Allowed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Bounds of the rights that tokens may claim; None for no bound."""

    claim_sets: Texts | None = None
    namespace_prefixes: Texts | None = None
    education_organizations: tuple[Positive, ...] | None = None
    data_stores: tuple[Positive, ...] | None = None


class TokenClaims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The places where a token says who its client is, and in the mode `claims` what it may do. All but `mode` and
    `allowed` are paths of claims.
    """

    mode: Literal["registered", "claims"] = "registered"
    # The default is the first of `client_id`, `azp`, `appid` and `sub`.
    client: Text | None = None
    claim_set: Text = "scope"
    namespace_prefixes: Text = "namespacePrefixes"
    education_organization_ids: Text = "educationOrganizationIds"
    data_store_ids: Text = "dataStoreIds"
    # The scopes are those of the management API.
    scopes: Texts = ("scope", "scp", "roles")
    allowed: Allowed = Allowed()

    def __post_init__(self) -> None:
        paths = (self.client, self.claim_set, self.namespace_prefixes, self.education_organization_ids)
        for path in (*paths, self.data_store_ids, *self.scopes):
            if path is not None and not is_path(path):
                raise ValueError(f"{path!r} is not a path of a claim, such as realm_access.roles")

    @property
    def client_paths(self) -> Texts:
        return ("client_id", "azp", "appid", "sub") if self.client is None else (self.client,)


class Issuer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An identity provider: who it is, and which of its tokens are accepted."""

    issuer: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_ISSUER)]
    audience: Text | Annotated[Texts, msgspec.Meta(min_length=1)]
    metadata: Text | None = None
    jwks_uri: Text | None = None
    algorithms: Annotated[tuple[Algorithm, ...], msgspec.Meta(min_length=1)] = ("RS256",)
    types: Annotated[tuple[str | None, ...], msgspec.Meta(min_length=1)] = ("at+jwt", "JWT", None)
    # Seconds.
    skew: Annotated[int, msgspec.Meta(ge=0, le=_MOST_SKEW)] = 30
    max_lifetime: Positive = 3600
    claims: TokenClaims = msgspec.field(default_factory=TokenClaims)
    tenant: Text | None = None
    use: Annotated[tuple[Literal["data", "management", "questions"], ...], msgspec.Meta(min_length=1)] = ("data",)

    def __post_init__(self) -> None:
        for name, address in (("issuer", self.issuer), ("metadata", self.metadata), ("jwks_uri", self.jwks_uri)):
            if address is not None and not is_safe(address):
                raise ValueError(f"{name} {address!r} is not an address with https (on this machine http is accepted)")
        if self.metadata is not None and self.jwks_uri is not None:
            raise ValueError("metadata and jwks_uri are two ways to the same keys; remove one of them")
        if self.tenant is not None and "management" in self.use:
            raise ValueError("tokens of one tenant cannot be for management, which concerns all tenants")

    @property
    def metadata_address(self) -> str:
        return self.metadata or well_known_address(self.issuer)


def well_known_address(issuer: str) -> str:
    """Return the address of an issuer's metadata (OpenID Connect Discovery 1.0, section 4)."""
    return f"{issuer.removesuffix('/')}/.well-known/openid-configuration"


def is_safe(address: str) -> bool:
    """Return whether keys from this address can be trusted: they cannot be replaced in transit."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme == "http":
        return _is_this_machine(host)
    return parts.scheme == "https" and bool(host)


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def faults() -> list[str]:
    """The reasons why issuers that are written as they should be do not work with the other settings."""
    found = []
    for each in issuers().values():
        if each.tenant is not None and not api_settings.MULTI_TENANCY:
            found.append(f"{each.issuer} has a tenant, and the server has none (MEADOWLARK_MULTI_TENANCY).")
        if each.tenant is None and each.claims.mode == "claims" and api_settings.MULTI_TENANCY:
            found.append(f"{each.issuer} has no tenant, so that its clients, which it makes, could reach nothing.")
    return found


def may_grant_every_claim_set(issuer: Issuer) -> bool:
    return issuer.claims.mode == "claims" and issuer.claims.allowed.claim_sets is None


def issuers() -> Mapping[str, Issuer]:
    """The issuers of the settings, by their names in tokens. Raises IssuersFileInvalid."""
    return _read(str(api_settings.OIDC_ISSUERS)) if api_settings.OIDC_ISSUERS else {}


@cache
def _read(path: str) -> Mapping[str, Issuer]:
    try:
        found = msgspec.json.decode(Path(path).read_bytes(), type=list[Issuer])
    except OSError as error:
        raise IssuersFileInvalid(f"MEADOWLARK_OIDC_ISSUERS: {path} cannot be read: {error.strerror}.") from error
    except msgspec.DecodeError as error:
        raise IssuersFileInvalid(f"MEADOWLARK_OIDC_ISSUERS: {path}: {error}") from error
    by_name = {each.issuer: each for each in found}
    if len(by_name) < len(found):
        raise IssuersFileInvalid(f"MEADOWLARK_OIDC_ISSUERS: {path} has an issuer twice.")
    return by_name


class ClaimMalformed(Exception):
    """A claim is not of the form that its use needs."""


def is_path(text: str) -> bool:
    return bool(_PATH.fullmatch(text))


def value_at(claims: Mapping[str, Any], path: str) -> Any:
    """The value to which the path leads; None if there is none."""
    value: Any = claims
    for step in _STEPS.findall(path):
        if not isinstance(value, Mapping):
            return None
        value = value.get(step.strip('"'))
    return value


def texts(value: Any) -> tuple[str, ...]:
    """The items of an array of texts, or of a text that commas separate, without blank ones. None is an empty list.

    Raises ClaimMalformed.
    """
    items = value.split(",") if isinstance(value, str) else [] if value is None else value
    if not isinstance(items, list) or not all(isinstance(each, str) and each.isprintable() for each in items):
        raise ClaimMalformed
    return tuple(stripped for each in items if (stripped := each.strip()))


def positive_numbers(value: Any) -> tuple[int, ...]:
    """The items of an array of positive numbers of 64 bits, or of a text that commas separate. One number is a list.

    Raises ClaimMalformed, also for blank items: a list that is not what was intended is not used at all.
    """
    items = value.split(",") if isinstance(value, str) and value else value or []
    return tuple(_positive_number(each) for each in (items if isinstance(items, list) else [items]))


def _positive_number(value: Any) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,19}\s*", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**63:
        raise ClaimMalformed
    return value

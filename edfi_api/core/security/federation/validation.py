"""Access token → its claims, if the issuer has signed it, for this server and for now. PyJWT verifies.

A token is refused for exactly one `Cause`, which the audit log has; clients see the same text for all of them. Tokens
that were issued before a time may be refused although their signature is valid.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import jwt
from django.db import transaction
from django.db.models import Max
from prometheus_client import Counter

from edfi_api.common.logs import audit
from edfi_api.core.security.exceptions import TokenRefused
from edfi_api.core.security.federation.keys import keys_of
from edfi_api.core.security.issuers import Issuer, issuers
from edfi_api.core.security.models import RefusedTokens
from edfi_api.core.security.token_claims import value_at

_LONGEST_TOKEN = 8 * 1024
_LONGEST_CLIENT = 255
# OpenID Connect Core 1.0, sections 2 and 3.3.2.11. Entra's ID tokens have the audience of access tokens.
_ONLY_OF_ID_TOKENS = frozenset({"nonce", "at_hash", "c_hash"})
_REQUIRED = ["exp", "iat", "iss", "aud"]
# The most specific first.
_CAUSES: dict[type[jwt.PyJWTError], str] = {
    jwt.ExpiredSignatureError: "expired",
    jwt.ImmatureSignatureError: "not yet valid",
    jwt.InvalidAudienceError: "wrong audience",
    jwt.InvalidIssuerError: "unknown issuer",
    jwt.InvalidSignatureError: "bad signature",
    jwt.InvalidAlgorithmError: "algorithm",
    jwt.InvalidKeyError: "unknown key",
}
# Each process counts its own.
VALIDATIONS = Counter(
    "meadowlark_oidc_validations", "Tokens of an issuer that were validated; cached ones are not.", ["issuer"]
)
REFUSALS = Counter(
    "meadowlark_oidc_refusals", "Tokens of other identity providers that were refused.", ["issuer", "reason"]
)
Use = Literal["data", "management", "questions"]


@dataclass(frozen=True)
class ValidToken:
    """What a token of `issuer` says. `client` is the name of its client there."""

    issuer: Issuer
    client: str
    issued_at: datetime
    expires: datetime
    claims: Mapping[str, Any]

    def refused(self, cause: str) -> TokenRefused:
        """The exception for a token that is valid and yet cannot be used."""
        return refused(cause, self.issuer)


def is_signed(token: str) -> bool:
    """Whether the token may be a signed JWT: three parts. Those that this server issues have no dots."""
    return token.count(".") == 2


def validated(token: str, use: Use) -> ValidToken | None:
    """The token's content; None if it is not of an issuer of the settings.

    Raises TokenRefused and IdentityProviderAway.
    """
    if len(token) > _LONGEST_TOKEN:
        raise refused("too long")
    try:
        unverified = jwt.decode_complete(token, options={"verify_signature": False})
    except jwt.DecodeError:
        return None
    except jwt.PyJWTError:
        raise refused("header") from None
    name = unverified["payload"].get("iss")
    issuer = issuers().get(name) if isinstance(name, str) else None
    if issuer is None or use not in issuer.use:
        return None
    VALIDATIONS.labels(issuer.issuer).inc()
    claims = _verified(token, unverified["header"], issuer)
    _check_kind(unverified["header"], claims, issuer)
    issued, expires = int(claims["iat"]), int(claims["exp"])
    if expires - issued > issuer.max_lifetime:
        raise refused("lifetime", issuer)
    return ValidToken(
        issuer,
        _client(claims, issuer),
        datetime.fromtimestamp(issued, UTC),
        datetime.fromtimestamp(expires, UTC),
        claims,
    )


def refused(cause: str, issuer: Issuer | None = None) -> TokenRefused:
    """Counts the refusal."""
    name = None if issuer is None else issuer.issuer
    REFUSALS.labels(name or "", cause).inc()
    return TokenRefused(cause, name)


def _verified(token: str, header: Mapping[str, Any], issuer: Issuer) -> Mapping[str, Any]:
    algorithm = header.get("alg")
    if algorithm not in issuer.algorithms:
        raise refused("algorithm", issuer)
    if "crit" in header:
        # RFC 7515 §4.1.11: extensions that are not understood have to be refused, and none is.
        raise refused("header", issuer)
    cause = "unknown key"
    for key in keys_of(issuer).find(header.get("kid"), algorithm):
        bound = key.by_algorithm.get(algorithm)
        if bound is None:
            cause = "algorithm"
            continue
        try:
            return jwt.decode(
                token,
                bound,
                algorithms=[algorithm],
                audience=issuer.audience,
                issuer=issuer.issuer,
                leeway=issuer.skew,
                options={"require": _REQUIRED, "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError as error:
            cause = _cause(error)
            # Without an id of the key, another one may be right.
            if cause != "bad signature":
                break
    raise refused(cause, issuer)


def _cause(error: jwt.PyJWTError) -> str:
    if isinstance(error, jwt.MissingRequiredClaimError):
        return "wrong audience" if error.claim == "aud" else "claims"
    return next((cause for type_, cause in _CAUSES.items() if isinstance(error, type_)), "claims")


def _check_kind(header: Mapping[str, Any], claims: Mapping[str, Any], issuer: Issuer) -> None:
    """Refuse what is not an access token, such as an ID token, which identifies a user to another program."""
    typ = header.get("typ")
    # RFC 7515 §4.1.9: `application/` may be left out, and case does not count.
    shown = typ.lower().removeprefix("application/") if isinstance(typ, str) else typ
    accepted = {None if each is None else each.lower() for each in issuer.types}
    if not (shown is None or isinstance(shown, str)) or shown not in accepted:
        raise refused("type", issuer)
    if claims.get("typ") == "ID" or not _ONLY_OF_ID_TOKENS.isdisjoint(claims):
        raise refused("type", issuer)


def _client(claims: Mapping[str, Any], issuer: Issuer) -> str:
    found = (value_at(claims, path) for path in issuer.claims.client_paths)
    name = next((value for value in found if value is not None), None)
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_CLIENT or not name.isprintable() or not name.strip():
        raise refused("claims", issuer)
    return name


@transaction.atomic
def refuse_tokens(issuer: str, client: str, before: datetime, *, by: str) -> None:
    """Refuse tokens of the issuer that it issued before a time: those of one client, or of all if it is empty. Replaces
    the time that was set before."""
    RefusedTokens.objects.update_or_create(issuer=issuer, client=client, defaults={"issued_before": before})
    audit.administered(
        "tokens refused", issuer=issuer, external_client=client or None, before=before.isoformat(), by=by
    )


def check_not_refused(valid: ValidToken) -> None:
    """Raise TokenRefused for a token that was issued before such a time."""
    found = RefusedTokens.objects.filter(issuer=valid.issuer.issuer, client__in=["", valid.client])
    before: datetime | None = found.aggregate(before=Max("issued_before"))["before"]
    if before is not None and valid.issued_at < before:
        raise valid.refused("issued too early")

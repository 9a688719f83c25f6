"""Access token → its claims, if the issuer has signed it, for this server and for now. PyJWT verifies.

A token is refused for exactly one `Cause`, which the audit log has; clients see the same text for all of them. Tokens
that were issued before a time may be refused although their signature is valid.

The signing keys of an issuer are fetched again every ten minutes while requests need them, in a thread in addition to
them: requests use the ones that are there. A token with an unknown key has them fetched at once, though not more often
than every ten seconds, however many invented keys are named. Without the provider the last keys stay valid for a day.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from threading import RLock, Thread
from time import monotonic
from typing import Any, Literal

import jwt
from django.db import transaction
from django.db.models import Max
from prometheus_client import Counter, Gauge

from edfi_api.common.back_off import BackOff
from edfi_api.common.logs import audit
from edfi_api.core.security.exceptions import IdentityProviderAway, TokenRefused
from edfi_api.core.security.federation.fetching import FetchFailed, Key, fetch_keys
from edfi_api.core.security.issuers import Issuer, issuers, value_at
from edfi_api.core.security.models import RefusedTokens

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

_FRESH_SECONDS = 600
_GOOD_SECONDS = 24 * 3600
_SECONDS_BETWEEN_UNKNOWN = 10
_FIRST_PAUSE, _LONGEST_PAUSE = 10, 60
# After the start of a fetch requests no longer wait for it: a slow provider must not occupy all threads.
_SECONDS_OF_WAITING = 1
# So many keys without an id are tried.
_MOST_TRIED = 5

# Several processes report the latest time: each fetches keys of its own, and files of ended processes stay.
KEYS_FETCHED = Gauge(
    "meadowlark_oidc_keys_fetched_seconds",
    "When the keys of an issuer were fetched last, in seconds since 1970.",
    ["issuer"],
    multiprocess_mode="max",
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ValidToken:
    """The claims of a token of `issuer`. `client` is the name of its client there."""

    issuer: Issuer
    client: str
    issued_at: datetime
    expires: datetime
    claims: Mapping[str, Any]

    def refuse(self, cause: str) -> TokenRefused:
        """Return the exception for a token that is valid and yet cannot be used."""
        return refuse(cause, self.issuer)


def is_signed(token: str) -> bool:
    """Return whether the token may be a signed JWT: three parts. Those that this server issues have no dots."""
    return token.count(".") == 2


def validated(token: str, use: Use) -> ValidToken | None:
    """The token's content; None if it is not of an issuer of the settings.

    Raises TokenRefused and IdentityProviderAway.
    """
    if len(token) > _LONGEST_TOKEN:
        raise refuse("too long")
    try:
        unverified = jwt.decode_complete(token, options={"verify_signature": False})
    except jwt.DecodeError:
        return None
    except jwt.PyJWTError:
        raise refuse("header") from None
    name = unverified["payload"].get("iss")
    issuer = issuers().get(name) if isinstance(name, str) else None
    if issuer is None or use not in issuer.use:
        return None
    VALIDATIONS.labels(issuer.issuer).inc()
    claims = _verified(token, unverified["header"], issuer)
    _check_kind(unverified["header"], claims, issuer)
    issued, expires = int(claims["iat"]), int(claims["exp"])
    if expires - issued > issuer.max_lifetime:
        raise refuse("lifetime", issuer)
    return ValidToken(
        issuer,
        _client(claims, issuer),
        datetime.fromtimestamp(issued, UTC),
        datetime.fromtimestamp(expires, UTC),
        claims,
    )


def refuse(cause: str, issuer: Issuer | None = None) -> TokenRefused:
    """Count the refusal, and return the exception for it."""
    name = None if issuer is None else issuer.issuer
    REFUSALS.labels(name or "", cause).inc()
    return TokenRefused(cause, name)


def _verified(token: str, header: Mapping[str, Any], issuer: Issuer) -> Mapping[str, Any]:
    algorithm = header.get("alg")
    if algorithm not in issuer.algorithms:
        raise refuse("algorithm", issuer)
    if "crit" in header:
        # RFC 7515 §4.1.11: extensions that are not understood have to be refused, and none is.
        raise refuse("header", issuer)
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
    raise refuse(cause, issuer)


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
        raise refuse("type", issuer)
    if claims.get("typ") == "ID" or not _ONLY_OF_ID_TOKENS.isdisjoint(claims):
        raise refuse("type", issuer)


def _client(claims: Mapping[str, Any], issuer: Issuer) -> str:
    found = (value_at(claims, path) for path in issuer.claims.client_paths)
    name = next((value for value in found if value is not None), None)
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_CLIENT or not name.isprintable() or not name.strip():
        raise refuse("claims", issuer)
    return name


@transaction.atomic
def refuse_tokens(issuer: str, client: str, before: datetime, *, by: str) -> None:
    """Refuse tokens of the issuer that it issued before a time: those of one client, or of all if it is empty. Replaces
    the time that was set before."""
    RefusedTokens.objects.update_or_create(issuer=issuer, client=client, defaults={"issued_before": before})
    audit.log_change("tokens refused", issuer=issuer, external_client=client or None, before=before.isoformat(), by=by)


def check_not_refused(valid: ValidToken) -> None:
    """Raise TokenRefused for a token that was issued before such a time."""
    found = RefusedTokens.objects.filter(issuer=valid.issuer.issuer, client__in=["", valid.client])
    before: datetime | None = found.aggregate(before=Max("issued_before"))["before"]
    if before is not None and valid.issued_at < before:
        raise valid.refuse("issued too early")


@dataclass(frozen=True)
class _KeySet:
    keys: tuple[Key, ...]
    fetched_at: float

    def matching(self, kid: str | None, algorithm: str) -> Sequence[Key]:
        """Return the keys that may have signed a token with this header."""
        if kid is not None:
            return [key for key in self.keys if key.kid == kid]
        return [key for key in self.keys if algorithm in key.by_algorithm][:_MOST_TRIED]


class Keys:
    """Thread-safe; at most one fetch runs at a time."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._lock = RLock()
        self._known: _KeySet | None = None
        self._running: Future[_KeySet] | None = None
        self._waiting_ends = 0.0
        self._back_off = BackOff(_FIRST_PAUSE, _LONGEST_PAUSE)
        self._next_attempt = 0.0
        self._next_for_unknown = 0.0

    def find(self, kid: str | None, algorithm: str) -> Sequence[Key]:
        """The keys that may have signed a token with this header; empty if the issuer has none of this id.

        Raises IdentityProviderAway if that cannot be known now.
        """
        known = self._known
        age = math.inf if known is None else monotonic() - known.fetched_at
        if known is None or age > _GOOD_SECONDS:
            return self._awaited(self._begin()).matching(kid, algorithm)
        if age > _FRESH_SECONDS:
            self._begin()
        return known.matching(kid, algorithm) or self._find_unknown(known, kid, algorithm)

    def _find_unknown(self, known: _KeySet, kid: str | None, algorithm: str) -> Sequence[Key]:
        with self._lock:
            if self._known is not None and self._known is not known:
                # Another request has had them fetched since.
                return self._known.matching(kid, algorithm)
            running, has_failed = self._running, self._back_off.failures > 0
            may_fetch = monotonic() >= self._next_for_unknown
            if may_fetch:
                self._next_for_unknown = monotonic() + _SECONDS_BETWEEN_UNKNOWN
        fetch = self._begin() if may_fetch else running
        if fetch is None and not has_failed:
            return ()
        return self._awaited(fetch).matching(kid, algorithm)

    def _begin(self) -> "Future[_KeySet] | None":
        """The running fetch, or a new one; None shortly after a failure."""
        with self._lock:
            if self._running is None and monotonic() >= self._next_attempt:
                fetch: Future[_KeySet] = Future()
                thread = Thread(target=self._fetch, args=[fetch], name="keys of an issuer", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:  # The system lets the process have no more threads.
                    self._record_failure(error)
                    return None
                self._running, self._waiting_ends = fetch, monotonic() + _SECONDS_OF_WAITING
            return self._running

    def _awaited(self, fetch: "Future[_KeySet] | None") -> _KeySet:
        try:
            if fetch is not None:
                return fetch.result(timeout=max(0.0, self._waiting_ends - monotonic()))
        except (FetchFailed, TimeoutError):
            pass
        raise IdentityProviderAway(self._issuer.issuer, max(1, math.ceil(self._next_attempt - monotonic())))

    def _fetch(self, fetch: "Future[_KeySet]") -> None:
        try:
            found = _KeySet(fetch_keys(self._issuer), monotonic())
        except Exception as error:
            self._record_failure(error)
            fetch.set_exception(error if isinstance(error, FetchFailed) else FetchFailed(str(error)))
            return
        with self._lock:
            self._known, self._running, self._next_attempt = found, None, 0.0
            self._back_off.reset()
        KEYS_FETCHED.labels(self._issuer.issuer).set_to_current_time()
        fetch.set_result(found)

    def _record_failure(self, error: Exception) -> None:
        with self._lock:
            pause = self._back_off.pause()
            self._running, self._next_attempt = None, monotonic() + pause
        # A bug here must not keep tokens from being answered, but has to be seen.
        traceback = None if isinstance(error, FetchFailed) else error
        _log.warning(
            "keys of issuer %s: %s; again in %d seconds", self._issuer.issuer, error, pause, exc_info=traceback
        )


@cache
def keys_of(issuer: Issuer) -> Keys:
    """Return the keys of the issuer that this process keeps."""
    return Keys(issuer)

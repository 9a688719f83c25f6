"""The signing keys of one issuer, cached by the process.

Keys are fetched again every ten minutes while requests need them, in a thread beside them: requests use the ones that
are there. A token with an unknown key has them fetched at once, though not more often than every ten seconds, however
many invented keys are named. Without the provider the last keys stay valid for a day.
"""

import logging
import math
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from threading import RLock, Thread
from time import monotonic

from prometheus_client import Gauge

from edfi_api.common.back_off import BackOff
from edfi_api.core.security.exceptions import IdentityProviderAway
from edfi_api.core.security.federation.fetching import FetchFailed, Key, fetch_keys
from edfi_api.core.security.issuers import Issuer

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
class _KeySet:
    keys: tuple[Key, ...]
    fetched_at: float

    def fitting(self, kid: str | None, algorithm: str) -> Sequence[Key]:
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

        Raises IdentityProviderAway if that cannot be known at the moment.
        """
        known = self._known
        age = math.inf if known is None else monotonic() - known.fetched_at
        if known is None or age > _GOOD_SECONDS:
            return self._awaited(self._begin()).fitting(kid, algorithm)
        if age > _FRESH_SECONDS:
            self._begin()
        return known.fitting(kid, algorithm) or self._find_unknown(known, kid, algorithm)

    def _find_unknown(self, known: _KeySet, kid: str | None, algorithm: str) -> Sequence[Key]:
        with self._lock:
            if self._known is not None and self._known is not known:
                # Another request has had them fetched since.
                return self._known.fitting(kid, algorithm)
            running, has_failed = self._running, self._back_off.failures > 0
            may_fetch = monotonic() >= self._next_for_unknown
            if may_fetch:
                self._next_for_unknown = monotonic() + _SECONDS_BETWEEN_UNKNOWN
        fetch = self._begin() if may_fetch else running
        if fetch is None and not has_failed:
            return ()
        return self._awaited(fetch).fitting(kid, algorithm)

    def _begin(self) -> "Future[_KeySet] | None":
        """The running fetch, or a new one; None shortly after a failure."""
        with self._lock:
            if self._running is None and monotonic() >= self._next_attempt:
                fetch: Future[_KeySet] = Future()
                thread = Thread(target=self._fetch, args=[fetch], name="keys of an issuer", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:  # The system lets the process have no more threads.
                    self._failed(error)
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
            self._failed(error)
            fetch.set_exception(error if isinstance(error, FetchFailed) else FetchFailed(str(error)))
            return
        with self._lock:
            self._known, self._running, self._next_attempt = found, None, 0.0
            self._back_off.reset()
        KEYS_FETCHED.labels(self._issuer.issuer).set_to_current_time()
        fetch.set_result(found)

    def _failed(self, error: Exception) -> None:
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

"""Which sessions are valid for the admin, and sessions between the password and the second factor; and the metric of
logins, which each process counts.

Until the second factor is given, the session has no user; it only records whose password was right.
"""

import time
from dataclasses import dataclass
from typing import Any

from django.contrib import auth
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django_otp.models import Device
from prometheus_client import Counter

from edfi_api.site.sign_in import second_factor
from edfi_api.site.sign_in.passwords import may_use_password

PROVIDER_BACKEND = "edfi_api.site.sign_in.backend.ProviderBackend"
# A login can be continued for so long.
UNFINISHED_SECONDS = 600
_PENDING = "pending_login"
LOGINS = Counter("meadowlark_admin_logins", "Logins to the admin.", ["way", "outcome"])


@dataclass(frozen=True)
class Pending:
    """A login that lacks the second factor. `target` is the path of the page that was requested."""

    user: User
    backend: str
    target: str


def is_by_provider(request: HttpRequest) -> bool:
    return bool(request.session.get(auth.BACKEND_SESSION_KEY) == PROVIDER_BACKEND)


def is_sufficient(request: HttpRequest) -> bool:
    """Return whether the user of the session logged in as the settings require today: they may have changed since."""
    if is_by_provider(request):
        return True
    if not may_use_password(request.user):
        return False
    return not second_factor.is_needed(request.user) or second_factor.is_in_session(request)


def begin(request: HttpRequest, user: Any, target: str) -> None:
    """Record that the password of this user was right."""
    auth.logout(request)
    request.session[_PENDING] = {
        "user": user.pk,
        "backend": user.backend,
        "target": target,
        # Changes with the password.
        "hash": user.get_session_auth_hash(),
        "until": time.time() + UNFINISHED_SECONDS,
    }
    request.session.set_expiry(UNFINISHED_SECONDS)


def pending(request: HttpRequest) -> Pending | None:
    """Return the pending login: None if there is none, if it is older than ten minutes, or the user has been changed so
    that it is void.
    """
    stored = request.session.get(_PENDING)
    if not stored or stored["until"] < time.time():
        return None
    user = User.objects.filter(pk=stored["user"], is_active=True, is_staff=True).first()
    if user is None or not constant_time_compare(user.get_session_auth_hash(), stored["hash"]):
        return None
    return Pending(user, stored["backend"], stored["target"])


def complete(request: HttpRequest, login: Pending, device: Device, **facts: object) -> None:
    """Log the user in. `facts` are those of the line in the audit log."""
    request.session.flush()
    login.user.otp_device = device  # type: ignore[attr-defined]  # Read by django-otp, which stores it in the session.
    login.user.login_facts = facts  # type: ignore[attr-defined]  # Read by the audit log.
    auth.login(request, login.user, backend=login.backend)


def count_logins() -> None:
    """Count what Django reports: logins, and names with wrong passwords."""
    user_logged_in.connect(_count_login, dispatch_uid="count logins")
    user_login_failed.connect(_count_failure, dispatch_uid="count failed logins")


def _count_login(request: HttpRequest, **_: Any) -> None:
    LOGINS.labels("provider" if is_by_provider(request) else "password", "accepted").inc()


def _count_failure(**_: Any) -> None:
    LOGINS.labels("password", "refused").inc()

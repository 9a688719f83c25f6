"""Metric of logins to the admin, which each process counts."""

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.http import HttpRequest
from prometheus_client import Counter

from .sessions import is_by_provider

LOGINS = Counter("meadowlark_admin_logins", "Logins to the admin.", ["way", "outcome"])


def count_logins() -> None:
    """Count what Django reports: logins, and names with wrong passwords."""
    user_logged_in.connect(_count_login, dispatch_uid="count logins")
    user_login_failed.connect(_count_failure, dispatch_uid="count failed logins")


def _count_login(request: HttpRequest, **_: Any) -> None:
    LOGINS.labels("provider" if is_by_provider(request) else "password", "accepted").inc()


def _count_failure(**_: Any) -> None:
    LOGINS.labels("password", "refused").inc()

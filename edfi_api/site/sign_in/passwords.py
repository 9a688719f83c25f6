"""Login to the admin: rate limits against password guessing, and the audit log of logins and changes."""

from typing import Any, cast

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.signals import post_save
from django.http import HttpRequest

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.remote_address import remote_address, subscriber
from edfi_api.core.security.rate_limits import count_towards_limit


class ThrottledLoginForm(AdminAuthenticationForm):
    """Checks a password only within the rate limits: one per address, and one per user name from all addresses."""

    def clean(self) -> dict[str, Any]:
        address = subscriber(remote_address(cast(HttpRequest, self.request)))
        user = self.cleaned_data.get("username", "").lower()
        wait = max(
            count_towards_limit(f"logins from {address}", api_settings.LOGINS_PER_MINUTE),
            count_towards_limit(f"logins as {user}", api_settings.LOGINS_PER_USER_AND_MINUTE),
        )
        if wait:
            audit.log_denial(reason="too many logins", user=_known(user), address=address)
            raise ValidationError(f"Too many attempts to log in. Try again in {wait} seconds.")
        return super().clean()

    def confirm_login_allowed(self, user: Any) -> None:
        """Confirm the login after the password was found right. The error is that of a wrong one, which is not to be
        found out.
        """
        super().confirm_login_allowed(user)
        if not may_use_password(user):
            request = cast(HttpRequest, self.request)
            audit.log_denial(reason="no password login", user=user.get_username(), address=remote_address(request))
            raise self.get_invalid_login_error()


def may_use_password(user: Any) -> bool:
    """Return whether the settings let this user log in by password."""
    return bool(api_settings.PASSWORD_LOGIN) or user.get_username() in api_settings.BREAK_GLASS_USERS


def connect_audit_log() -> None:
    """Write Django's admin log entries, logins and failed logins to the audit log."""
    post_save.connect(_log_change, sender=LogEntry, dispatch_uid="audit changes in the admin")
    user_logged_in.connect(_log_login, dispatch_uid="audit logins")
    user_login_failed.connect(_log_failure, dispatch_uid="audit failed logins")


def _log_change(instance: LogEntry, using: str, **_: Any) -> None:
    """Log on commit: Django writes the entry of a deletion before the deletion, which can still be refused."""
    facts = {
        "model": instance.content_type.model if instance.content_type else None,
        **_names(instance),
        "changes": instance.get_change_message() or None,
        "by": f"admin:{instance.user.get_username()}",
    }
    event = f"admin {instance.get_action_flag_display().lower()}"
    transaction.on_commit(lambda: audit.log_change(event, **facts), using)


def _names(entry: LogEntry) -> dict[str, object]:
    """The row's `audit_facts` if its model has them, otherwise its display name. The entry itself has those of a row in
    another database."""
    if facts := getattr(entry, "audit_facts", None):
        return dict(facts)
    model = entry.content_type.model_class() if entry.content_type else None
    row: Any = None
    if model is not None and hasattr(model, "audit_facts"):
        row = model._base_manager.filter(pk=entry.object_id).first()
    return row.audit_facts if row else {"object": entry.object_repr}


def _log_login(request: HttpRequest, user: Any, **_: Any) -> None:
    """Log the login with the `login_facts` of a user who logged in otherwise than by password alone."""
    facts = getattr(user, "login_facts", {})
    audit.log_change("admin login", by=f"admin:{user.get_username()}", address=remote_address(request), **facts)


def _log_failure(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    audit.log_denial(
        reason="login failed",
        user=_known(credentials.get("username", "")),
        address=remote_address(request) if request else None,
    )


def _known(username: str) -> str:
    """The user name if such a user exists: anything else could be a password typed into the wrong field."""
    model = get_user_model()
    is_known = "\0" not in username and model.objects.filter(**{f"{model.USERNAME_FIELD}__iexact": username}).exists()
    return username if is_known else "unknown"

"""The second factor of users who log in by password: an authenticator app (TOTP, RFC 6238), and recovery codes.

django-otp compares codes, accepts each only once, and doubles the time between wrong ones.
"""

import time
from binascii import hexlify
from dataclasses import dataclass
from secrets import token_bytes

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django_otp import DEVICE_ID_SESSION_KEY, verify_token
from django_otp.models import Device
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from edfi_api.common.conf import api_settings
from edfi_api.site.sign_in.models import RecoveryCodes

_KEY_BYTES = 20
# The authenticator's clock may be so many steps of 30 seconds off.
_TOLERANCE = 1
_DIGITS = 6


class AlreadyEnrolled(Exception):
    """The user has an authenticator."""


class WrongCode(Exception):
    """The code is wrong or was used; `wait` is the number of seconds until the next attempt."""

    def __init__(self, wait: int) -> None:
        super().__init__(wait)
        self.wait = wait


@dataclass(frozen=True)
class Accepted:
    """A device that accepted a code. `remaining` is the number of recovery codes after one was used."""

    device: Device
    remaining: int | None


def is_needed(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether this user logs in by password only together with a code."""
    if api_settings.SECOND_FACTOR == "required":
        return True
    return api_settings.SECOND_FACTOR == "optional" and has_authenticator(user)


def has_authenticator(user: AbstractBaseUser | AnonymousUser) -> bool:
    return bool(TOTPDevice.objects.filter(user_id=user.pk, confirmed=True).exists())


def is_in_session(request: HttpRequest) -> bool:
    """Return whether a code was given for this session, of a device that the user still has."""
    device = Device.from_persistent_id(request.session.get(DEVICE_ID_SESSION_KEY, ""))
    return device is not None and device.user_id == request.user.pk


def new_key() -> str:
    """A key for an authenticator, in hexadecimal digits."""
    return hexlify(token_bytes(_KEY_BYTES)).decode()


def enrol(user: User, key: str, code: str) -> tuple[TOTPDevice, list[str]]:
    """Store the key after a first code; returns the authenticator and recovery codes.

    Raises WrongCode, and AlreadyEnrolled: a second authenticator could belong to a thief of the password.
    """
    device = TOTPDevice(user=user, name="authenticator", key=key, digits=_DIGITS, tolerance=_TOLERANCE)
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    totp.time = time.time()
    if not code.isdecimal() or not totp.verify(int(code), _TOLERANCE):
        raise WrongCode(0)
    with transaction.atomic():
        _lock(user)
        if has_authenticator(user):
            raise AlreadyEnrolled
        # The first code is used up, like any other.
        device.last_t, device.drift = totp.t(), totp.drift
        device.save()
        return device, _replace_codes(user)


def verify(user: User, code: str) -> Accepted:
    """Check and use up a code of the authenticator, or a recovery code. Raises WrongCode."""
    is_recovery = not code.isdecimal()
    device = (RecoveryCodes if is_recovery else TOTPDevice).objects.filter(user=user, confirmed=True).first()
    if device is None:
        raise WrongCode(0)
    if not verify_token(user, device.persistent_id, code):
        raise WrongCode(_seconds_to_wait(device))
    return Accepted(device, device.token_set.count() if is_recovery else None)


def replace_codes(user: User) -> list[str]:
    """New recovery codes; the earlier ones are no longer accepted."""
    with transaction.atomic():
        _lock(user)
        return _replace_codes(user)


def remaining_codes(user: User) -> int:
    return sum(device.token_set.count() for device in RecoveryCodes.objects.filter(user=user))


def remove(user: AbstractBaseUser) -> bool:
    """Remove authenticator and recovery codes, which ends the sessions with them; returns whether there were any."""
    with transaction.atomic():
        removed = [model.objects.filter(user_id=user.pk).delete()[0] for model in (TOTPDevice, RecoveryCodes)]
    return any(removed)


def _replace_codes(user: User) -> list[str]:
    device, _ = RecoveryCodes.objects.get_or_create(user=user, defaults={"name": "recovery codes"})
    return list(device.replace())


def _lock(user: User) -> None:
    """Serialize changes of this user's devices until the end of the transaction."""
    User.objects.select_for_update().get(pk=user.pk)


def _seconds_to_wait(device: Device) -> int:
    """Return the seconds until the next code is compared; 0 also for a device that was removed in between."""
    stored = type(device).objects.filter(pk=device.pk).first()
    if stored is None:
        return 0
    is_allowed, reason = stored.verify_is_allowed()
    if is_allowed:
        return 0
    return int(max(1, (reason["locked_until"] - timezone.now()).total_seconds()))

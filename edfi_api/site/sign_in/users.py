"""The users of people who log in by the provider: made at the first login, and given the groups of their claims at each
one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.core.security.issuers import value_at
from edfi_api.site.sign_in.models import LONGEST_SUBJECT, AdminIdentity


@dataclass(frozen=True)
class Rights:
    """The rights of a person: groups by name, and whether all."""

    groups: frozenset[str] = frozenset()
    is_superuser: bool = False

    def __bool__(self) -> bool:
        return bool(self.groups) or self.is_superuser


def has_claim(claims: Mapping[str, Any]) -> bool:
    return value_at(claims, api_settings.SIGN_IN_GROUPS_CLAIM) is not None


def rights_of(claims: Mapping[str, Any]) -> Rights:
    """Return the rights by the claim of the settings: an array of text, or one text."""
    found = value_at(claims, api_settings.SIGN_IN_GROUPS_CLAIM)
    values = {each for each in (found if isinstance(found, list) else [found]) if isinstance(each, str)}
    return Rights(
        frozenset(group for value, group in api_settings.SIGN_IN_GROUPS if value in values),
        not values.isdisjoint(api_settings.SIGN_IN_SUPERUSERS),
    )


_LONGEST_NAME = 150
# Characters that Django's validator of user names refuses.
_NOT_IN_NAMES = re.compile(r"[^\w.@+-]")
# The length of the hash that distinguishes people of one name.
_HASH_LENGTH = 8


class NotAUser(Exception):
    """There can be no user with the claims of the person; the text names what is wrong."""


class NoGroup(NotAUser):
    """The claims give no group, and do not make a superuser."""


def user_of(claims: Mapping[str, Any], rights: Rights) -> User:
    """The user with the rights of the claims, and no others. Raises NoGroup for a person without any, and NotAUser.

    A user who has lost all rights loses them here too, and with them all sessions.
    """
    issuer, subject = api_settings.SIGN_IN_ISSUER, claims["sub"]
    rights = replace(rights, groups=_existing(rights.groups))
    if len(subject) > LONGEST_SUBJECT or "\0" in subject:
        raise NotAUser("subject")
    user = _known(issuer, subject)
    if user is None and rights:
        user = _create(issuer, subject, claims)
    if user is not None:
        user = _update(user, claims, rights)
    if user is None or not rights:
        raise NoGroup
    return user


def _existing(groups: frozenset[str]) -> frozenset[str]:
    return frozenset(Group.objects.filter(name__in=groups).values_list("name", flat=True))


def _known(issuer: str, subject: str) -> User | None:
    return User.objects.filter(identities__issuer=issuer, identities__subject=subject).first()


def _create(issuer: str, subject: str, claims: Mapping[str, Any]) -> User:
    """Create a user without a password. A local user with the same name is another person."""
    digest = sha256(f"{issuer}\0{subject}".encode()).hexdigest()[:_HASH_LENGTH]
    name = _text(claims, api_settings.SIGN_IN_USERNAME_CLAIM, _LONGEST_NAME - _HASH_LENGTH - 1) or "user"
    name = _NOT_IN_NAMES.sub("_", name)
    for candidate in (name, f"{name}-{digest}"):
        if User.objects.filter(username__iexact=candidate).exists():
            continue
        try:
            with transaction.atomic():
                user = User.objects.create_user(candidate)
                AdminIdentity.objects.create(user=user, issuer=issuer, subject=subject)
        except IntegrityError:
            # A concurrent login was first, with this identity or with this name.
            if found := _known(issuer, subject):
                return found
            continue
        audit.log_change("admin user created", user=candidate, issuer=issuer, subject=subject, by="provider")
        return user
    raise NotAUser("name")


def _update(user: User, claims: Mapping[str, Any], rights: Rights) -> User:
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        before = _summary(user)
        user.first_name = _text(claims, "given_name", _LONGEST_NAME) or user.first_name
        user.last_name = _text(claims, "family_name", _LONGEST_NAME) or user.last_name
        user.email = _text(claims, "email", 254) or user.email
        user.is_superuser, user.is_staff = rights.is_superuser, bool(rights)
        user.save()
        user.groups.set(Group.objects.filter(name__in=rights.groups))
        after = _summary(user)
    if before != after:
        audit.log_change("admin rights changed", user=user.get_username(), before=before, after=after, by="provider")
    return user


def _summary(user: User) -> str:
    groups = sorted(user.groups.values_list("name", flat=True))
    return ", ".join([*(["superuser"] if user.is_superuser else []), *groups]) or "none"


def _text(claims: Mapping[str, Any], name: str, longest: int) -> str:
    value = claims.get(name)
    return value.replace("\0", "")[:longest].strip() if isinstance(value, str) else ""

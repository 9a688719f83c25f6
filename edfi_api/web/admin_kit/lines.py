"""What capabilities contribute in lines: about the state of the server, for the front page of the admin, and to the
weekly mail. A mail has no personal data: who wants to know more follows a link to a page that asks for a login."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.timesince import timesince

_PERMISSION = "needed_permission"
_Lines = TypeVar("_Lines", bound=Callable[..., Iterator["StatusLine"]])


@dataclass(frozen=True, slots=True)
class StatusLine:
    """`needs_attention` marks what should be looked at; `address` leads to its page, if there is one."""

    name: str
    text: str
    needs_attention: bool = False
    address: str = ""


def shown_with(permission: str) -> Callable[[_Lines], _Lines]:
    """Show the lines of a function to users with the permission."""

    def mark(lines: _Lines) -> _Lines:
        setattr(lines, _PERMISSION, permission)
        return lines

    return mark


def is_shown_to(user: AbstractBaseUser | AnonymousUser, lines: Callable[..., Iterator[StatusLine]]) -> bool:
    """Return whether the user may see the lines of a function."""
    return bool(user.has_perm(getattr(lines, _PERMISSION)))  # type: ignore[union-attr]


def span(length: timedelta) -> str:
    """Return a length of time in words: `3 days, 2 hours`."""
    now = timezone.now()
    return timesince(now - length, now)


class MailSection(NamedTuple):
    """`subject` is a few words for the subject of the mail. Each line has a text and the path of its page."""

    title: str
    subject: str
    lines: list[tuple[str, str]]


def path_of(name: str, *arguments: Any) -> str:
    """Return the path of a page of the admin; empty on servers without one."""
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""

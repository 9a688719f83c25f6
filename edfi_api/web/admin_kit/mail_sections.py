"""What capabilities contribute to the weekly mail. It has no personal data: who wants to know more follows a link to
a page that asks for a login."""

from typing import Any, NamedTuple

from django.urls import NoReverseMatch, reverse


class MailSection(NamedTuple):
    """`subject` is a few words for the subject of the mail. Each line has a text and the path of its page."""

    title: str
    subject: str
    lines: list[tuple[str, str]]


def path_of(name: str, *arguments: Any) -> str:
    """The path of a page of the admin; empty on servers without one."""
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""

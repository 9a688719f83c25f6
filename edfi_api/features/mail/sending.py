"""The mail of a week: its text, and to whom it is still to be sent."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta

from django.core.mail import send_mail
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.utils import timezone

from edfi_api.common.conf import api_settings
from edfi_api.web.admin_kit.lines import MailSection

_LINES_SHOWN = 20
# Another server that sends to the same address holds the lock on its row, and then the week is no longer earlier.
_TAKE = """
INSERT INTO mail_sent AS kept (address, week) VALUES (%s, %s)
ON CONFLICT (address) DO UPDATE SET week = excluded.week WHERE kept.week < excluded.week
RETURNING 1
"""


def this_week() -> date:
    """The Monday of this week."""
    today = timezone.localdate()
    return today - timedelta(days=today.weekday())


def text_of(sections: Sequence[MailSection]) -> str:
    """The text of the mail, with links if the address of the server is known."""
    parts = []
    for section in sections:
        lines = [section.title, ""]
        for text, path in section.lines[:_LINES_SHOWN]:
            lines.append(f"- {text}")
            if path and api_settings.MAIL_LINKS:
                lines.append(f"  {api_settings.MAIL_LINKS.rstrip('/')}{path}")
        if len(section.lines) > _LINES_SHOWN:
            lines.append(f"- and {len(section.lines) - _LINES_SHOWN} more")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def send_once(address: str, week: date, sections: Sequence[MailSection]) -> bool:
    """Send the mail, unless the address has that of this week. Returns whether it was sent. Raises OSError or
    SMTPException, and the mail is sent by the next command."""
    with _taken(address, week) as is_taken:
        if is_taken:
            subject = f"Meadowlark: {', '.join(section.subject for section in sections)}"
            send_mail(subject, text_of(sections), api_settings.MAIL_FROM, [address])
    return is_taken


@contextmanager
def _taken(address: str, week: date) -> Iterator[bool]:
    with transaction.atomic(using=DEFAULT_DB_ALIAS), connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_TAKE, [address, week])
        yield cursor.fetchone() is not None

"""The form that times have on pages: `2026-11-27 14:10 UTC`, with the seconds on hover."""

from datetime import datetime

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString


def moment(at: datetime | None) -> SafeString | str:
    """An element `time`; a dash for None."""
    if at is None:
        return "-"
    exact = timezone.localtime(at).isoformat(timespec="seconds")
    return format_html('<time datetime="{0}" title="{0}">{1}</time>', exact, written_moment(at))


def written_moment(at: datetime) -> str:
    """The text alone, in the time zone of the pages."""
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M %Z}"

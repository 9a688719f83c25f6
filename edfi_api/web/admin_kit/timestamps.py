"""The form that times have on pages: `2026-11-27 14:10 UTC`, with the seconds on hover."""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any

from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist
from django.db.models import DateTimeField, Model
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString


def timestamp(at: datetime | None) -> SafeString | str:
    """An element `time`; a dash for None."""
    if at is None:
        return "-"
    exact = timezone.localtime(at).isoformat(timespec="seconds")
    return format_html('<time datetime="{0}" title="{0}">{1}</time>', exact, written_timestamp(at))


def written_timestamp(at: datetime) -> str:
    """The text alone, in the time zone of the pages."""
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M %Z}"


def is_time(model: type[Model], name: Any) -> bool:
    """Whether the model has a field of this name with times. Other names of columns are methods and functions."""
    try:
        return isinstance(name, str) and isinstance(model._meta.get_field(name), DateTimeField)
    except FieldDoesNotExist:
        return False


@cache
def shown_time(model: type[Model], name: str) -> Callable[[Any], SafeString | str]:
    """A column or a read-only field in place of the field of this name, of which Django's pages show the text only."""

    @admin.display(description=str(model._meta.get_field(name).verbose_name), ordering=name)  # type: ignore[union-attr]
    def shown(row: Any) -> SafeString | str:
        return timestamp(getattr(row, name))

    shown.__name__ = name
    return shown

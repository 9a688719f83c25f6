"""What someone does about a problem of many rows: a cause of refusals, a rule that finds something at a school.

A capability has a model of its own, with the columns that identify the problem. Each change is a row with the next
number, so the latest row is the state, and the others are its history. A problem of which no one has said anything has
no row. The numbers of a problem are unique: of two users who change the same state at once, the second one learns of
it.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import Q
from django.utils import timezone

# Who dismisses a problem looks at it again within a year.
LONGEST = timedelta(days=366)
LONGEST_NOTE = 2_000
_Model = TypeVar("_Model", bound="FollowUp")


class FollowUpState(models.TextChoices):
    """The state of a problem: something has to be done about it, and by whom, or nothing."""

    OPEN = "open", "open"
    SENT = "sent", "sent to the vendor"
    WAITING = "waiting", "waiting"
    DISMISSED = "dismissed", "dismissed until a day"


class FollowUp(models.Model):
    """A state of a problem, from when someone sets it until there is a higher number."""

    id = models.BigAutoField(primary_key=True)
    number = models.IntegerField()
    state = models.TextField(choices=FollowUpState.choices)
    # The last day of a dismissal, after which the problem is open again.
    until = models.DateField(null=True)
    note = models.TextField()
    username = models.TextField()
    set_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        default_permissions = ("add",)
        constraints = [
            models.CheckConstraint(condition=Q(state__in=FollowUpState.values), name="%(class)s_state"),
            models.CheckConstraint(
                condition=Q(state="dismissed", until__isnull=False) | (~Q(state="dismissed") & Q(until=None)),
                name="%(class)s_until",
            ),
        ]

    @property
    def in_words(self) -> str:
        return state_in_words(self.state, self.until)


class AlreadyChanged(Exception):
    """Someone else has set the state since the user saw it."""


class FollowUpForm(forms.Form):
    """A new state. `number` is that of the state that the user has seen, 0 without any."""

    state = forms.ChoiceField(choices=FollowUpState.choices)
    until = forms.DateField(
        label="Until",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The last day of a dismissal; afterwards it is open again.",
    )
    note = forms.CharField(required=False, max_length=LONGEST_NOTE, widget=forms.Textarea(attrs={"rows": 3}))
    number = forms.IntegerField(min_value=0, max_value=10**6, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        until, today = values.get("until"), timezone.localdate()
        if values.get("state") != FollowUpState.DISMISSED:
            values["until"] = None
        elif until is None and "until" not in self.errors:
            self.add_error("until", ValidationError("Until which day?"))
        elif until is not None and not today <= until <= today + LONGEST:
            self.add_error("until", ValidationError(f"The day must be between {today} and {today + LONGEST}."))
        return values


def state_in_words(state: str | None, until: date | None, since: int = 0) -> str:
    """`open` without a state, `sent to the vendor`, `dismissed until 2026-12-24`; `open again` after that day. `since`
    is how many rows occurred after the state was set: `waiting, 12 since`."""
    if state is None:
        text = "open"
    elif until is None:
        text = str(FollowUpState(state).label)
    else:
        text = f"dismissed until {until}" if is_dismissed(until) else "open again"
    return f"{text}, {since:,} since" if since else text


def is_dismissed(until: date | None) -> bool:
    """Return whether this last day of a dismissal is not over; None without one."""
    return until is not None and until >= timezone.localdate()


def follow_ups(model: type[_Model], key: Mapping[str, Any], using: str, most: int) -> list[_Model]:
    """Return the states of a problem, the latest first."""
    return list(model._default_manager.using(using).filter(**key).order_by("-number")[:most])


def set_state(
    model: type[_Model], key: Mapping[str, Any], values: Mapping[str, Any], username: str, using: str
) -> _Model:
    """Store the values of a `FollowUpForm`. Raises AlreadyChanged."""
    latest = follow_ups(model, key, using, 1)
    if values["number"] != (latest[0].number if latest else 0):
        raise AlreadyChanged
    try:
        with transaction.atomic(using=using):
            return model._default_manager.using(using).create(
                **key,
                number=values["number"] + 1,
                state=values["state"],
                until=values["until"],
                note=values["note"],
                username=username,
            )
    except IntegrityError as error:
        raise AlreadyChanged from error

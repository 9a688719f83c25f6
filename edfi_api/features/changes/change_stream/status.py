"""What the front page of the admin says of the change stream in a database."""

from collections.abc import Iterator
from datetime import timedelta

from django.urls import reverse

from edfi_api.features.changes.change_stream.log import lags
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.web.admin_kit.status_lines import StatusLine, shown_with, span

# Consumers are expected to be minutes behind, not hours.
_LONGEST_LAG = timedelta(hours=1)
_MOST_LETTERS = 1_000


@shown_with("change_queries.view_changeconsumer")
def consumers(using: str) -> Iterator[StatusLine]:
    page = reverse("admin:change_queries_changeconsumer_changelist")
    found = lags(using)
    for lag in found:
        behind = timedelta(seconds=lag.seconds)
        text = f"{span(behind)} behind" if lag.seconds else "up to date"
        yield StatusLine(f"Consumer {lag.consumer}", text, behind > _LONGEST_LAG, page)
    if not found:
        yield StatusLine("Consumers of changes", "none", address=page)


@shown_with("change_stream.view_deadletter")
def dead_letters(using: str) -> Iterator[StatusLine]:
    number = DeadLetter.objects.using(using)[: _MOST_LETTERS + 1].count()
    text = f"{number:,}" if number <= _MOST_LETTERS else f"more than {_MOST_LETTERS:,}"
    yield StatusLine("Dead letters", text, number > 0, reverse("admin:change_stream_deadletter_changelist"))

"""What the front page of the admin says of validation in a database."""

from collections.abc import Iterator

from django.utils import timezone

from edfi_api.features.validation.metrics import last_run
from edfi_api.web.admin_kit.status_lines import StatusLine, shown_with, span


@shown_with("validation.view_validationrun")
def last_validation(using: str) -> Iterator[StatusLine]:
    last = last_run(using)
    if last is None:
        yield StatusLine("Last validation", "never")
        return
    ago = span(timezone.now() - last.started_at)
    text = f"{last.status.lower()}, began {ago} ago: {last.appeared:,} appeared, {last.resolved:,} resolved"
    failed = f", {last.failed_rules} of {last.rules} rules failed" if last.failed_rules else ""
    yield StatusLine("Last validation", text + failed, last.failed_rules > 0)

"""What the front page of the admin says of refusals."""

from collections.abc import Iterator

from django.urls import reverse

from edfi_api.features.refusals.overview import open_by_vendor
from edfi_api.web.admin_kit.status_lines import StatusLine, shown_with


@shown_with("refusals.view_refusal")
def open_refusals() -> Iterator[StatusLine]:
    entries = sum(number for _, number in open_by_vendor())
    yield StatusLine("Open refusals", f"{entries:,}", address=reverse("admin:refusals_overview"))

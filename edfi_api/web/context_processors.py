"""What the templates of all pages know."""

from typing import Any

from django.http import HttpRequest

from edfi_api.common.conf import api_settings


def shared_by_pages(request: HttpRequest) -> dict[str, Any]:
    """Return what the header shows on every page: whether clients have a page of their refused writes."""
    return {"has_submissions": bool(api_settings.WRITE_RECORDER)}

"""Pages for browsers, outside the admin."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from edfi_api.common.conf import api_settings


def html_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """The page with the Content-Security-Policy of the settings."""
    response = render(request, template, context | {"has_submissions": bool(api_settings.WRITE_RECORDER)})
    response.headers["Content-Security-Policy"] = settings.CONTENT_SECURITY_POLICY
    return response

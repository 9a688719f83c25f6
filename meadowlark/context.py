"""Takes the context of an address out of the path, so that every view finds its own path behind it."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix, set_script_prefix

from edfi_api.addresses import standard_segment
from edfi_api.conf import api_settings
from edfi_api.data_stores.addresses import FIXED, OUTSIDE, Reading
from edfi_api.startup import current_surface


class ContextMiddleware:
    """Moves the segments of the context to the end of SCRIPT_NAME, from which all addresses in answers begin, and keeps
    them as `request.context_segments`. Installed only if the settings name route qualifiers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        standard = standard_segment(current_surface().core_project.package_name)
        outside = OUTSIDE | {settings.ADMIN_PATH.casefold()} if settings.ADMIN_PATH else OUTSIDE
        self._reading = Reading(len(api_settings.ROUTE_QUALIFIERS), FIXED | {standard.casefold()}, outside)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        segments, path = self._reading.split(request.path_info)
        request.context_segments = segments  # type: ignore[attr-defined]  # Read where a data store is chosen.
        if not segments:
            return self.get_response(request)
        before, prefix = get_script_prefix(), "/".join([request.META.get("SCRIPT_NAME", ""), *segments])
        request.META["SCRIPT_NAME"], request.path_info = prefix, path
        # Django keeps the prefix in a thread local, and the next request of the thread may have another one.
        set_script_prefix(prefix)
        try:
            return self.get_response(request)
        finally:
            set_script_prefix(before)

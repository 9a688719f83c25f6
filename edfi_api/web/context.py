"""Takes the context of an address out of the path, so that every view finds its own path after it."""

from collections.abc import Callable, Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix, set_script_prefix

from edfi_api.common import addresses
from edfi_api.common.addresses import first_segments, standard_segment
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.exceptions import TenantMissing, TenantUnknown
from edfi_api.core.data_stores.routing import FIXED, OUTSIDE, AddressForm, has_encoded_separator
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.data_stores.stores import check_tenant_segment
from edfi_api.core.served import current_surface
from edfi_api.web.problem_details.exception_handler import client_error

# Fixed words of routes that are public, or that find the tenant by key and secret.
_OPEN = frozenset({addresses.METADATA, "oauth"})


class ContextMiddleware:
    """Moves the segments of the context to the end of SCRIPT_NAME, from which all addresses in answers begin, and keeps
    them as `request.context_segments`. Installed only if the settings name route qualifiers, or there are tenants."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        standard = standard_segment(current_surface().core_project.package_name)
        fixed = FIXED | {standard.casefold()}
        outside = OUTSIDE | first_segments(settings.ROOT_URLCONF) - fixed
        most = len(api_settings.ROUTE_QUALIFIERS) + api_settings.MULTI_TENANCY
        self._reading = AddressForm(most, fixed, outside)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        segments, path = self._reading.split(request.path_info)
        if has_encoded_separator(_as_sent(request), len(segments) + 1):
            # No route has such a path, so it is answered 404.
            segments, path = (), request.path_info
        if api_settings.MULTI_TENANCY and (refusal := self._refusal(segments, path)):
            return client_error(request, refusal)
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

    def _refusal(self, segments: Sequence[str], path: str) -> Exception | None:
        """Return what is wrong with the tenant of the address. Whether a well-formed one exists is only said of
        metadata, which are public."""
        word = path.removeprefix("/").partition("/")[0].casefold()
        is_metadata = word == addresses.METADATA or not word
        is_token_info = path.strip("/").casefold() == addresses.INTROSPECTION
        if is_metadata and segments and segments[0].casefold() not in routing_cache().table().tenants:
            # One that was made a moment ago is known after this.
            return None if segments[0].casefold() in routing_cache().table_after_miss().tenants else TenantUnknown()
        if word in self._reading.fixed and (word not in _OPEN or is_token_info):
            return check_tenant_segment(segments[0]) if segments else TenantMissing()
        return None


def _as_sent(request: HttpRequest) -> str:
    """The path before it was decoded; empty if the server does not hand it over, as Granian's engine does not."""
    target: str = request.META.get("RAW_URI", "")
    return target.partition("?")[0].removeprefix(request.META.get("SCRIPT_NAME", ""))

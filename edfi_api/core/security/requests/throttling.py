"""The limit of requests per minute of an API client, as a throttle class of Django REST framework.

The settings install it only if there is a limit, since it costs a statement for each request.
"""

from django.views import View
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from edfi_api.common.conf import api_settings
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.rate_limits import limit


class RequestsPerMinute(BaseThrottle):
    """Counts in PostgreSQL, for all servers. Raises TooManyRequests, which says when to try again."""

    def allow_request(self, request: Request, view: View) -> bool:
        """Return True, also for public views, which have no client."""
        if isinstance(request.user, AuthenticatedClient):
            limit(f"requests of client {request.user.row_id}", api_settings.REQUESTS_PER_MINUTE)
        return True

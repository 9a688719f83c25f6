"""Rate limits, counted in the database and so shared by all threads, workers and servers.

Each bucket allows a burst of as many events as the limit allows in a minute, and refills evenly (the generic cell rate
algorithm). Counting and deciding are one statement, so concurrent callers cannot exceed the limit.
"""

import random
from datetime import timedelta
from typing import Any

from django.db import connection
from django.views import View
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from edfi_api.common.conf import api_settings
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import TooManyRequests

_SECONDS = 60
# Full buckets are redundant; they are removed once in so many events.
_HAPPENINGS_PER_CLEANING = 1000

_COUNT = """
WITH counted AS (
    INSERT INTO rate_limit AS bucket (name, full_at) VALUES (%(name)s, clock_timestamp() + %(each)s)
    ON CONFLICT (name) DO UPDATE SET full_at = greatest(bucket.full_at, clock_timestamp()) + %(each)s
    WHERE bucket.full_at + %(each)s <= clock_timestamp() + %(whole)s
    RETURNING 0 AS wait
)
SELECT wait FROM counted
UNION ALL
-- Never 0: this sees the bucket as it was before concurrent requests.
SELECT greatest(1, ceil(extract(epoch FROM full_at + %(each)s - %(whole)s - clock_timestamp()))) FROM rate_limit
WHERE name = %(name)s AND NOT EXISTS (SELECT FROM counted)
"""
_CLEAN = "DELETE FROM rate_limit WHERE full_at < clock_timestamp()"


def count_towards_limit(name: str, per_minute: int, events: int = 1) -> int:
    """Count an event, or several at once; 0 if they are allowed. A limit of 0 allows everything and counts nothing.

    More events at once than the limit count as the limit: they are allowed when the bucket is full.
    """
    if not per_minute or not events:
        return 0
    with connection.cursor() as cursor:
        each, whole = timedelta(seconds=_SECONDS * min(events, per_minute) / per_minute), timedelta(seconds=_SECONDS)
        # The stubs do not list intervals among the types of parameters.
        parameters: dict[str, Any] = {"name": name, "each": each, "whole": whole}
        cursor.execute(_COUNT, parameters)
        # No row if a concurrent transaction has just created the bucket.
        wait = (cursor.fetchone() or [1])[0]
        if random.randrange(_HAPPENINGS_PER_CLEANING) == 0:  # noqa: S311  Nothing secret hangs on it.
            cursor.execute(_CLEAN)
    return int(wait)


def limit(name: str, per_minute: int, events: int = 1) -> None:
    """Count what `count_towards_limit` counts, and raise TooManyRequests if the limit is exceeded."""
    if wait := count_towards_limit(name, per_minute, events):
        raise TooManyRequests(wait)


# The settings install it only if there is a limit, since it costs a statement for each request.


class RequestsPerMinute(BaseThrottle):
    """Counts in PostgreSQL, for all servers. Raises TooManyRequests, which says when to try again."""

    def allow_request(self, request: Request, view: View) -> bool:
        """Return True, also for public views, which have no client."""
        if isinstance(request.user, AuthenticatedClient):
            limit(f"requests of client {request.user.row_id}", api_settings.REQUESTS_PER_MINUTE)
        return True

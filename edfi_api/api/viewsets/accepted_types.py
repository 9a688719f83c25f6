"""Which form of an answer a client prefers, by the quality values of `Accept` (RFC 9110 §12.5.1)."""

from django.http import HttpRequest

CSV = "text/csv; charset=utf-8"
# Django matches a type with parameters with one that has the same or none. Of equal ones it prefers the first.
_FORMS = ("application/json; charset=utf-8", CSV)


def prefers_csv(request: HttpRequest) -> bool:
    """Whether the client prefers CSV to JSON; JSON is the answer to a client that accepts neither."""
    return request.get_preferred_type(_FORMS) == CSV

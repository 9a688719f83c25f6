"""Which form of an answer a client prefers, by the quality values of `Accept` (RFC 9110 §12.5.1)."""

from django.http import HttpRequest

from edfi_api.refusals.csv_text import CONTENT_TYPE

# Django matches a type with parameters with one that has the same or none. Of equal ones it prefers the first.
_FORMS = ("application/json; charset=utf-8", CONTENT_TYPE)


def prefers_csv(request: HttpRequest) -> bool:
    """Whether the client prefers CSV to JSON; JSON is the answer to a client that accepts neither."""
    return request.get_preferred_type(_FORMS) == CONTENT_TYPE

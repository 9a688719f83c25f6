"""Reading the body of a request within a limit, whether it comes with a length or in chunks.

Django reads as many bytes as Content-Length declares, so none of a chunked body; the WSGI server ends the input at the
end of such a body (`wsgi.input_terminated`).
"""

from django.http import HttpRequest


class BodyTooLong(Exception):
    """The body is longer than the limit."""


class BodyIncomplete(Exception):
    """The body is shorter than its Content-Length, or its chunks are malformed."""


def read_body(request: HttpRequest, limit: int) -> bytes:
    """The whole body; reads at most one byte more than `limit`. Raises BodyTooLong, BodyIncomplete."""
    is_chunked = "HTTP_TRANSFER_ENCODING" in request.META
    announced = 0 if is_chunked else int(request.META.get("CONTENT_LENGTH") or 0)
    if announced > limit:
        raise BodyTooLong
    try:
        body = (request.META["wsgi.input"] if is_chunked else request).read(limit + 1)
    except OSError as error:
        raise BodyIncomplete from error
    if len(body) > limit:
        raise BodyTooLong
    if len(body) < announced:
        raise BodyIncomplete
    return body

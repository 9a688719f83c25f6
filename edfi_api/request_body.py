"""Reading the body of a request within a limit, whether it comes with a length or in chunks.

Django reads as many bytes as Content-Length says, so none of a chunked body; the WSGI server knows where that ends
(`wsgi.input_terminated`).
"""

from django.http import HttpRequest


class BodyTooLong(Exception):
    """The body has more bytes than it may have."""


class BodyIncomplete(Exception):
    """The body ended before its announced end, or its chunks are malformed."""


def read_body(request: HttpRequest, limit: int) -> bytes:
    """The whole body, of which at most one byte more than `limit` is read. Raises BodyTooLong, BodyIncomplete."""
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

"""gunicorn's reader of chunked bodies, with a limit for what is no body, and one kind of error.

gunicorn collects a chunk's size line and the trailers without a limit, takes any number of chunks, raises errors of its
own kind, which WSGI applications cannot know, for malformed trailers, and takes what follows malformed chunks for the
next request.
"""

from io import BytesIO

from gunicorn.http import message
from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import ParseException
from gunicorn.http.unreader import Unreader

# Of a size line with its extensions, or of all trailers; more than one packet of either is no client's need.
_MOST_BYTES = 16 * 1024
# Each costs 2 microseconds, which for 10 MB byte by byte would be 17 seconds. So many are 50 bytes each.
_MOST_CHUNKS = 200_000


class MalformedBody(OSError):
    """The chunks end early or are none. The connection cannot be used for another request."""


class BoundedChunkedReader(ChunkedReader):
    """See the module. Once it has failed, it fails again instead of reporting an end."""

    _has_failed = False
    _chunks = 0

    def read(self, size: int) -> bytes:
        if self._has_failed:
            raise MalformedBody
        try:
            return super().read(size)
        except (OSError, ParseException) as error:
            self._has_failed = True
            self.req.force_close()
            raise MalformedBody from error

    def parse_chunk_size(self, unreader: Unreader, data: bytes | None = None) -> tuple[int, bytes | None]:
        self._chunks += 1
        if self._chunks > _MOST_CHUNKS:
            raise MalformedBody
        return super().parse_chunk_size(unreader, data)

    def get_data(self, unreader: Unreader, buf: BytesIO) -> None:
        """More of a size line or of trailers."""
        if buf.tell() > _MOST_BYTES:
            raise MalformedBody
        super().get_data(unreader, buf)


def install() -> None:
    """gunicorn has no setting for its readers."""
    message.ChunkedReader = BoundedChunkedReader

"""gunicorn's reader of chunked bodies with limits, and with OSError for everything malformed.

gunicorn buffers a chunk's size line and the trailers without a limit and accepts any number of chunks. For malformed
trailers it raises a ParseException, which an application cannot know, and after malformed chunks it parses the rest of
the connection as the next request.
"""

from io import BytesIO

from gunicorn.http import message
from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import ParseException
from gunicorn.http.unreader import Unreader

# Of one size line with its extensions, or of all trailers together.
_MOST_BYTES = 16 * 1024
# A chunk costs 2 microseconds of processor time: 17 seconds for 10 MB in chunks of one byte.
_MOST_CHUNKS = 200_000


class MalformedBody(OSError):
    """The chunks end early or are malformed. The connection cannot be used for another request."""


class BoundedChunkedReader(ChunkedReader):
    """Once it has failed, it fails again: gunicorn's would report the end of the body."""

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
        """Reads more of a size line or of trailers into `buf`."""
        if buf.tell() > _MOST_BYTES:
            raise MalformedBody
        super().get_data(unreader, buf)


def install() -> None:
    """Replace gunicorn's reader, for which it has no setting."""
    message.ChunkedReader = BoundedChunkedReader

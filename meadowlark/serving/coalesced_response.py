"""gunicorn's response, with the headers and the first block of the body in one packet, and with checked headers cached.

gunicorn sends the headers before it iterates over the body, which wakes the client twice and releases the GIL twice for
each answer. It also validates every header of every answer, although most are the same in all of them.
"""

from functools import lru_cache

from gunicorn import util
from gunicorn.http.wsgi import Response

Header = tuple[str, str]

# More than there are headers with recurring values; the least recently used entries are evicted.
_REMEMBERED = 1024
# Headers from which gunicorn sets attributes of the response; they are not cached.
_STATEFUL = {"connection", "content-length", "upgrade"}


class CoalescedResponse(Response):
    """See the module. Only the headers are held back, until the first block of the body."""

    _head = b""

    def process_headers(self, headers: list[Header]) -> None:
        for header in headers:
            if header[0].lower() in _STATEFUL:
                super().process_headers([header])
            else:
                self.headers += _as_sent(header)

    def send_headers(self) -> None:
        """Only formats them: they are sent with the first block of the body, or by `close` if there is none."""
        if not self.headers_sent:
            lines = [*self.default_headers(), *[f"{name}: {value}\r\n" for name, value in self.headers], "\r\n"]
            self._head = util.to_bytestring("".join(lines), "latin-1")
            self.headers_sent = True

    def _emit_body(self, data: bytes) -> None:
        if self.chunked:
            self._send_head()
        head, self._head = self._head, b""
        super()._emit_body(head + data)

    def close(self) -> None:
        self.send_headers()
        self._send_head()
        super().close()

    def _send_head(self) -> None:
        if self._head:
            util.write(self.sock, self._head)
            self._head = b""


@lru_cache(_REMEMBERED)
def _as_sent(header: Header) -> list[Header]:
    """The header as gunicorn sends it, or none if it omits it; a header that it rejects raises and is not cached."""
    response = Response(None, None, None)
    response.process_headers([header])
    return response.headers

"""gunicorn's response, sent in one packet instead of two, with headers that are looked at once.

gunicorn sends the headers before it asks for the body: for each answer the client was woken twice, and the thread let
others have their turn twice. And it checks every header of every answer, most of which are the same in all of them.
"""

from functools import lru_cache

from gunicorn import util
from gunicorn.http.wsgi import Response

Header = tuple[str, str]

# More than there are headers with values that recur; of the others none stays for long.
_REMEMBERED = 1024
# What gunicorn keeps in mind about the answer as a whole when it comes across one of these.
_ABOUT_THE_ANSWER = {"connection", "content-length", "upgrade"}


class CoalescedResponse(Response):
    """See the module. Nothing is held back beyond the first block of a body."""

    _head = b""

    def process_headers(self, headers: list[Header]) -> None:
        for header in headers:
            if header[0].lower() in _ABOUT_THE_ANSWER:
                super().process_headers([header])
            else:
                self.headers += _as_sent(header)

    def send_headers(self) -> None:
        """With the first block of the body; `close` sends them if there is none."""
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
    """The header as gunicorn sends it, or none if it does not; what it refuses is not remembered."""
    response = Response(None, None, None)
    response.process_headers([header])
    return response.headers

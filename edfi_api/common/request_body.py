"""Reading the body of a request within a limit, whether it comes with a length or in chunks, compressed or not, and in
UTF-8 or in another encoding that it declares.

Django reads as many bytes as Content-Length declares, so none of a chunked body; the WSGI server ends the input at the
end of such a body (`wsgi.input_terminated`).
"""

import codecs
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from email.message import Message
from functools import lru_cache
from itertools import chain

from django.http import HttpRequest

from edfi_api.common.memory import HELD_UNTIL_ANSWERED, SMALL, cost_of_json, process_memory

UTF_8 = "utf-8"
# Bytes before one that is wrong.
_SHOWN = 24

# The codings of bodies that are decoded, as `Accept-Encoding` names them.
ACCEPTED_CODINGS = "gzip, deflate, identity"
_BLOCK = 2**16
_MOST_CODINGS = 3
_GZIP = frozenset({"gzip", "x-gzip"})
_GZIP_WINDOW, _ZLIB_WINDOW, _RAW_WINDOW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
# These are Python's names. Others are for specialists, or are no encodings of texts at all.
_CHARSETS = frozenset(
    {
        "ascii", "cp1252", "iso8859-1", "iso8859-15", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be",
        "utf-32-le", UTF_8, "utf-8-sig",
    }
)  # fmt: skip
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_MARK = 4


class BodyTooLong(Exception):
    """The body is longer than the limit."""


class BodyIncomplete(Exception):
    """The body is shorter than its Content-Length, or its chunks are malformed."""


@dataclass
class UnsupportedCoding(Exception):
    """The body is compressed in another way than by ACCEPTED_CODINGS."""

    coding: str


@dataclass
class UnsupportedCharset(Exception):
    """The body declares an encoding that is not read."""

    charset: str


@dataclass
class BodyUnreadable(Exception):
    """The bytes are not what the headers say: where, and what to do."""

    reason: str


def read_body(request: HttpRequest, limit: int) -> bytes:
    """The whole body in UTF-8, without a byte order mark. Reads and decodes little more than `limit` bytes.

    Raises BodyTooLong, BodyIncomplete, UnsupportedCoding, UnsupportedCharset, BodyUnreadable, and MemoryExhausted for
    one that is large once it is decompressed.
    """
    body = _received(request, limit)
    if "HTTP_CONTENT_ENCODING" in request.META:
        body = _decompressed(body, request, limit)
    content_type = request.META.get("CONTENT_TYPE", "")
    if ";" in content_type or not body.isascii():
        return as_utf8(body, content_type, limit)
    return body


def _received(request: HttpRequest, limit: int) -> bytes:
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


def _decompressed(body: bytes, request: HttpRequest, limit: int) -> bytes:
    codings = codings_of(request)
    if not codings:
        return body
    size, blocks = 0, []
    for block in decoded([body], codings):
        size += len(block)
        if size > limit:
            raise BodyTooLong
        blocks.append(block)
    found = b"".join(blocks)
    held: ExitStack | None = request.META.get(HELD_UNTIL_ANSWERED)
    if held is not None and (cost := cost_of_json(found)) > SMALL:
        held.enter_context(process_memory().reserve(cost))
    return found


def codings_of(request: HttpRequest) -> list[str]:
    """The codings in which a body is compressed, in the order in which they were applied. Raises UnsupportedCoding."""
    header = request.META.get("HTTP_CONTENT_ENCODING", "")
    named = [name for each in header.split(",") if (name := each.strip().lower()) not in ("", "identity")]
    for name in named:
        if name not in _GZIP and name != "deflate":
            raise UnsupportedCoding(name)
    if len(named) > _MOST_CODINGS:
        raise UnsupportedCoding(header)
    return named


def decoded(blocks: Iterable[bytes], codings: Iterable[str]) -> Iterator[bytes]:
    """The decompressed data in blocks of bounded size, however well they are compressed. Raises BodyUnreadable."""
    found = iter(blocks)
    for coding in reversed(list(codings)):
        found = _without_coding(found, coding)
    return found


def _without_coding(blocks: Iterable[bytes], coding: str) -> Iterator[bytes]:
    decompressor, has_ended = None, False
    try:
        for block in blocks:
            rest = block
            while rest:
                if has_ended and coding not in _GZIP:
                    raise BodyUnreadable(f"something follows the {coding} data")
                # A file may consist of several members (RFC 1952 §2.2).
                decompressor = decompressor or zlib.decompressobj(_window(coding, rest))
                yield decompressor.decompress(rest, _BLOCK)
                rest = decompressor.unconsumed_tail
                if decompressor.eof:
                    rest, decompressor, has_ended = decompressor.unused_data, None, True
        if decompressor is not None:
            yield decompressor.flush()
    except zlib.error as error:
        raise BodyUnreadable(f"it is not {coding} data, as Content-Encoding says: {error}") from error
    if decompressor is not None and not decompressor.eof:
        raise BodyUnreadable(f"the {coding} data end too early")


def _window(coding: str, beginning: bytes) -> int:
    """`deflate` is zlib's format, but many clients send it without zlib's header (RFC 9110 §8.4.1.2)."""
    if coding in _GZIP:
        return _GZIP_WINDOW
    has_header = beginning[0] & 0x0F == zlib.DEFLATED and beginning[0] >> 4 <= 7
    is_checked = len(beginning) == 1 or int.from_bytes(beginning[:2]) % 31 == 0
    return _ZLIB_WINDOW if has_header and is_checked else _RAW_WINDOW


def as_utf8(body: bytes, content_type: str, limit: int) -> bytes:
    """Return the text that `utf8_blocks` returns in blocks as a whole. Raises what it does, and BodyTooLong."""
    charset = _charset(body, content_type)
    if charset == UTF_8 and body.isascii():
        return body
    pieces = (body[start : start + _BLOCK] for start in range(0, len(body), _BLOCK))
    found = b"".join(utf8_blocks(pieces, content_type))
    if len(found) > limit:
        raise BodyTooLong
    return found


def utf8_blocks(blocks: Iterable[bytes], content_type: str, *, is_checked: bool = True) -> Iterator[bytes]:
    """A text in UTF-8, without a byte order mark; one in another encoding must have a byte order mark, or declare it.
    Without `is_checked` bytes that are not UTF-8 are left to whoever reads the text in parts.

    Raises UnsupportedCharset, and BodyUnreadable with the place of what is not in the encoding.
    """
    rest, first = iter(blocks), b""
    while len(first) < _LONGEST_MARK and (block := next(rest, b"")):
        first += block
    charset = _charset(first, content_type)
    decoder, position = codecs.getincrementaldecoder(charset)(), 0
    if charset == UTF_8:
        position = len(first) - len(first.removeprefix(codecs.BOM_UTF8))
    for block in chain([first[position:]], rest, [b""]):
        pending = len(decoder.getstate()[0])
        if charset == UTF_8 and (not is_checked or (not pending and block.isascii())):
            yield block
        else:
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise BodyUnreadable(wrong_byte(error, charset, position - pending)) from error
            yield block if charset == UTF_8 else text.encode(errors="surrogatepass")
        position += len(block)


def _charset(beginning: bytes, content_type: str) -> str:
    """The encoding of a text with this beginning, by Python's name. Raises UnsupportedCharset."""
    declared = _declared(content_type)
    for mark, marked in _BYTE_ORDER_MARKS:
        if beginning.startswith(mark):
            return marked
    if declared in ("utf-16", "utf-32"):
        # Without a mark: what is sent here begins with an ASCII character.
        return f"{declared}-be" if beginning.startswith(b"\0") else f"{declared}-le"
    return declared


@lru_cache(maxsize=64)
def _declared(content_type: str) -> str:
    message = Message()
    message["Content-Type"] = content_type
    sent = str(message.get_param("charset") or UTF_8).strip().strip("'\"")
    try:
        name = codecs.lookup(sent).name
    except (LookupError, ValueError):
        raise UnsupportedCharset(sent) from None
    if name not in _CHARSETS:
        raise UnsupportedCharset(sent)
    return UTF_8 if name == "utf-8-sig" else name


def wrong_byte(error: UnicodeDecodeError, charset: str = UTF_8, position: int = 0) -> str:
    """Say where the byte is and what to do; `position` is that of the decoded part in the whole text."""
    before = error.object[max(0, error.start - _SHOWN) : error.start].decode(charset, errors="ignore")
    behind = f", behind {before!r}" if before and before.isprintable() else ""
    advice = " Send UTF-8, or declare the encoding, such as Content-Type: application/json; charset=windows-1252."
    return (
        f"it is not {charset.upper()}: byte 0x{error.object[error.start]:02X} at position {position + error.start}"
        f"{behind}.{advice if charset == UTF_8 else ''}"
    )

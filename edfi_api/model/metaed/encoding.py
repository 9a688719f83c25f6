"""The bytes of a MetaEd file → its text.

Files are UTF-8. The documentation in published projects contains some Windows-1252 (curly quotes, dashes) from word
processors. A wrong character is harmless there, so it is read as Windows-1252 with a warning; elsewhere it is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from edfi_api.model.metaed.errors import Problem, error, warning
from edfi_api.model.metaed.model import SourceLocation

# Comments and texts are matched whole, so that nothing inside them is taken for documentation.
_COMMENT_OR_TEXT = re.compile(
    r"""
    //[^\n]*
    | (?P<documentation>(?<![A-Za-z0-9_])documentation(?:[ \t\r\n]|//[^\n]*\n)*)?
      (?P<text>"[^"]*(?:""[^"]*)*"(?!"))
    """,
    re.VERBOSE,
)
# A byte that is not UTF-8, as the error handler `surrogateescape` keeps it.
_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_REPLACEMENT = "\ufffd"


def decoded(file: str, content: bytes) -> tuple[str, tuple[Problem, ...]]:
    """The text without a byte order mark, its lines ending in `\\n`, and a problem for each byte that is not UTF-8.

    A byte that cannot be read becomes a replacement character, so that the rest of the file can still be checked.
    """
    try:
        return _with_plain_line_ends(content.decode("utf-8-sig")), ()
    except UnicodeDecodeError:
        escaped = _with_plain_line_ends(content.decode("utf-8-sig", errors="surrogateescape"))
        readable = _COMMENT_OR_TEXT.sub(_readable, escaped)
        return _STRAY_BYTE.sub(_REPLACEMENT, readable), tuple(_problems(file, escaped, readable))


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _readable(match: re.Match[str]) -> str:
    """Keeps the number of characters, so that places do not change."""
    if match["documentation"] is None:
        return match[0]
    return match["documentation"] + _STRAY_BYTE.sub(_as_windows_1252, match["text"])


def _as_windows_1252(stray: re.Match[str]) -> str:
    """Five bytes have no character in Windows-1252 either; they remain undecoded."""
    return _byte(stray).decode("windows-1252", errors="surrogateescape")


def _byte(stray: re.Match[str]) -> bytes:
    return stray[0].encode("ascii", errors="surrogateescape")


def _problems(file: str, escaped: str, readable: str) -> Iterator[Problem]:
    for number, (escaped_line, line) in enumerate(zip(escaped.split("\n"), readable.split("\n"), strict=True), 1):
        for stray in _STRAY_BYTE.finditer(escaped_line):
            place = SourceLocation(file, number, stray.start() + 1)
            message, character = f"not UTF-8: byte {_byte(stray)[0]:#04x}", line[stray.start()]
            if _STRAY_BYTE.match(character):
                yield error(place, message)
            else:
                yield warning(place, f"{message} is read as Windows-1252 '{character}'; save the file as UTF-8")

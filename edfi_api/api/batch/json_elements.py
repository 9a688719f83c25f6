"""Finds the elements of a JSON array without parsing them: by the brackets and commas outside of strings.

A parser would need many times the memory of the text. Whether the elements themselves are JSON is not checked here.
"""

import re
from collections.abc import Iterator
from mmap import mmap

from edfi_api.documents.exceptions import MalformedJson

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{},"]', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_OPENING, _CLOSING, _QUOTE = (b"[", b"{"), (b"]", b"}"), b'"'


def places(text: bytes | mmap) -> Iterator[tuple[int, int]]:
    """Start and length of each element. Raises MalformedJson, possibly after some elements, if the text has not the
    form of an array."""
    start = _behind_space(text, 0)
    if text[start : start + 1] != b"[":
        raise _no_array()
    depth, position = 0, 0
    for token in _TOKEN.finditer(text, start):
        sign = text[token.start() : token.start() + 1]
        if sign in _OPENING:
            depth += 1
            if depth == 1:
                start = position = token.end()
        elif sign == _QUOTE:
            if token.end() == token.start() + 1:
                break  # The string has no end.
        elif depth == 1 and sign in (b",", b"]"):
            is_empty = _behind_space(text, start) == token.start()
            if is_empty and not (sign == b"]" and start == position):
                raise MalformedJson("an element of the array is missing")
            if not is_empty:
                yield start, token.start() - start
            start = token.end()
            if sign == b"]":
                if _behind_space(text, start) != len(text):
                    break
                return
        elif sign in _CLOSING:
            depth -= 1
    raise _no_array()


def _behind_space(text: bytes | mmap, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


def _no_array() -> MalformedJson:
    return MalformedJson("a JSON array of operations is expected")

"""Text of others on a terminal, which would obey control characters and cannot show bytes that are no text."""

import re

_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_printable(text: str) -> bool:
    """Whether nothing in it has to be replaced."""
    return _NOT_PRINTABLE.search(text) is None


def printable(text: object) -> str:
    """Its text on one line, with escapes for what cannot be printed."""
    return _NOT_PRINTABLE.sub(lambda found: ascii(found[0])[1:-1], str(text))

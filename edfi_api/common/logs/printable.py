"""Text for a terminal: untrusted text without what a terminal would interpret or cannot show, and counts."""

import re

_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_printable(text: str) -> bool:
    """Whether the text has nothing to escape."""
    return _NOT_PRINTABLE.search(text) is None


def printable(text: object) -> str:
    """`str(text)` on one line, with escapes for characters that cannot be printed."""
    return _NOT_PRINTABLE.sub(lambda found: ascii(found[0])[1:-1], str(text))


def counted(number: int, noun: str) -> str:
    """`1 file`, `2,000 files`. The noun is in the singular, with a regular plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

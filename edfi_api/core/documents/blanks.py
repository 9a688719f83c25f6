"""Text that shows nothing: blanks of Unicode, control characters, and characters without width.

Values that are no text are read without blanks around them. Text is kept as it is sent, whoever writes it, but text
that shows nothing is no value (meadowlark/docs/reference/contract.md#text).
"""

import re

_CONTROLS_AND_BLANKS = r"\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Unicode's `Default_Ignorable_Code_Point`, and the Braille pattern without dots.
_WITHOUT_WIDTH = (
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Matches a character that shows something, in JSON Schema and in Python.
VISIBLE = f"[^{_CONTROLS_AND_BLANKS}{_WITHOUT_WIDTH}]"

_VISIBLE = re.compile(VISIBLE)
_AROUND_VALUES = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_EACH_AROUND_VALUES = frozenset(_AROUND_VALUES)


def shows_nothing(text: str) -> bool:
    """Whether no character of a text can be seen."""
    return _VISIBLE.search(text) is None


def without_blanks(text: str) -> str:
    """The text without blanks and characters without width around it; the same object if there are none."""
    if text and text[0] not in _EACH_AROUND_VALUES and text[-1] not in _EACH_AROUND_VALUES:
        return text  # In a third of the time that `strip` takes with so many characters.
    return text.strip(_AROUND_VALUES)

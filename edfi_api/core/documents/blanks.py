"""Text that shows nothing, and texts that look equal though they are not."""

import json
import re
import unicodedata
from collections.abc import Iterator

# Values that are no text are read without blanks around them. Text is kept as it is sent, whoever writes it, but text
# that shows nothing is no value (meadowlark/docs/reference/contract.md#text).

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
    """Return whether no character of a text can be seen."""
    return _VISIBLE.search(text) is None


def without_blanks(text: str) -> str:
    """The text without blanks and characters without width around it; the same object if there are none."""
    if text and text[0] not in _EACH_AROUND_VALUES and text[-1] not in _EACH_AROUND_VALUES:
        return text  # In a third of the time that `strip` takes with so many characters.
    return text.strip(_AROUND_VALUES)


# Marks of formats, such as a zero-width space; controls.
_UNSEEN = ("Cf", "Cc")


def is_regular(text: str) -> bool:
    """Return whether nothing in a text is easily taken for something else but the case of its letters."""
    if text.isascii() and text.isprintable():
        return text == " ".join(text.split())
    is_seen = not any(unicodedata.category(each) in _UNSEEN for each in text)
    return is_seen and unicodedata.is_normalized("NFC", text) and text == " ".join(text.split())


def folded(text: str) -> str:
    """Return a text that is the same for texts that look equal."""
    composed = unicodedata.normalize("NFKC", text)
    seen = "".join(each for each in composed if each.isspace() or unicodedata.category(each) not in _UNSEEN)
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def distinguished(text: str, other: str) -> str:
    """A text in quotation marks: with escapes if it differs from the other in what no one sees."""
    same_letters = folded(text) == folded(other) and text.casefold() != other.casefold()
    is_plain = text.isascii() and other.isascii()
    return f'"{text}"' if is_plain or not same_letters else json.dumps(text)


def spellings(text: str) -> Iterator[str]:
    """Yield other texts that look like this one and are often written in its place; never the text itself."""
    trimmed = " ".join(text.split())
    seen = "".join(each for each in trimmed if unicodedata.category(each) not in _UNSEEN)
    in_cases = (seen, seen.lower(), seen.upper(), seen.title(), seen.capitalize())
    found = (unicodedata.normalize(form, each) for each in (text, trimmed, *in_cases) for form in ("NFC", "NFD"))
    yield from (each for each in dict.fromkeys((trimmed, f"{seen} ", f" {seen}", *found)) if each != text)

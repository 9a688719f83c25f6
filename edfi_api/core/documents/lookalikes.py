"""Texts that look equal though they are not: in another case, with other blanks, with characters that nobody sees, or
in another of Unicode's forms.
"""

import json
import unicodedata
from collections.abc import Iterator

# Marks of formats, such as a zero-width space; controls.
_UNSEEN = ("Cf", "Cc")


def is_regular(text: str) -> bool:
    """Whether nothing in a text is easily taken for something else but the case of its letters."""
    if text.isascii() and text.isprintable():
        return text == " ".join(text.split())
    is_seen = not any(unicodedata.category(each) in _UNSEEN for each in text)
    return is_seen and unicodedata.is_normalized("NFC", text) and text == " ".join(text.split())


def folded(text: str) -> str:
    """Return a text that is the same for texts that look equal."""
    composed = unicodedata.normalize("NFKC", text)
    seen = "".join(each for each in composed if each.isspace() or unicodedata.category(each) not in _UNSEEN)
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def told_apart(text: str, other: str) -> str:
    """A text in quotation marks: with escapes if it differs from the other in what nobody sees."""
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

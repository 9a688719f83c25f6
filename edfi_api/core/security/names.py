"""Validation of the names of clients, claim sets and the like, and of namespace prefixes.

Names appear in tables, in logs and on admin pages, so they are single lines.
"""

import re

from django.core.exceptions import ValidationError

_CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
NAME = rf"\A(?=.*\S)[^{_CONTROL}]*\Z"
_PREFIX = rf"\A(?!\s)[^{_CONTROL}]+(?<!\s)\Z"


def validate_name(text: str) -> None:
    """Raise ValidationError unless it is one line with visible characters."""
    if not re.search(NAME, text):
        raise ValidationError("A name is one line without control characters, and not blank.")


def validate_namespace_prefix(text: str) -> None:
    """Raise ValidationError for blank text, which would be a prefix of every namespace, and for control characters."""
    if not re.search(_PREFIX, text):
        raise ValidationError("A namespace prefix has no blanks around it and no control characters.")

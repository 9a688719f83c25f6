"""What may be a name of a client, a claim set and the like, and what a namespace prefix.

Names stand in tables, in logs and on the pages of the admin, so they are single lines.
"""

import re

from django.core.exceptions import ValidationError

_CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
NAME = rf"\A(?=.*\S)[^{_CONTROL}]*\Z"
_PREFIX = rf"\A(?!\s)[^{_CONTROL}]+(?<!\s)\Z"


def validate_name(text: str) -> None:
    """Raise ValidationError unless it is one line of which something can be seen."""
    if not re.search(NAME, text):
        raise ValidationError("A name is one line without control characters, and not blank.")


def validate_namespace_prefix(text: str) -> None:
    """Raise ValidationError for what is blank: every namespace begins with the empty text."""
    if not re.search(_PREFIX, text):
        raise ValidationError("A namespace prefix has no blanks around it and no control characters.")

"""Page tokens: the range of rows that cursor paging has still to read, opaque to clients.

`min,max` of document row ids, inclusive, in base64url. A token does not contain the filters of its request; the client
repeats them. See meadowlark/docs/reference/contract.md#paging.
"""

import binascii
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from edfi_api.core.queries.selection import LAST_ROW

_CONTENT = re.compile(rb"(\d{1,19}),(\d{1,19})")


@dataclass(frozen=True, slots=True)
class PageToken:
    """The rows from `first` to `last`."""

    first: int
    last: int = LAST_ROW

    def __str__(self) -> str:
        return urlsafe_b64encode(f"{self.first},{self.last}".encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> "PageToken | None":
        """The token, or None if the text is not a valid one."""
        try:
            content = _CONTENT.fullmatch(urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
        except (binascii.Error, ValueError):
            return None
        if content is None or max(int(content[1]), int(content[2])) > LAST_ROW:
            return None
        return cls(int(content[1]), int(content[2]))

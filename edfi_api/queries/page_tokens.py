"""Page tokens: which rows a walk through a collection has left, as text that only the server reads.

`min,max` of document rows, inclusive, in base64url. A token is not tied to the filters of its request; the client
repeats them. See meadowlark/docs/contract.md#paging.
"""

import binascii
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from edfi_api.documents.collection import LAST_ROW

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
        """The token that this text is, or None."""
        try:
            content = _CONTENT.fullmatch(urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
        except (binascii.Error, ValueError):
            return None
        if content is None or max(int(content[1]), int(content[2])) > LAST_ROW:
            return None
        return cls(int(content[1]), int(content[2]))

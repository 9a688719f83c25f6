"""Values that a mapping gives: constants, or texts with values of the document, `{gradingPeriodDescriptor} 1`.

`{key}` is a digest of the document's key, as 32 hexadecimal digits.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.core.documents.paths import as_text
from edfi_api.features.loading.mapping.files import Value
from edfi_api.features.loading.mapping.members import steps_of

KEY = "key"
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_DESCRIPTOR_URI = re.compile(r"\w+://[^#]*Descriptor#(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Template:
    """`names` are the paths of the values in it."""

    value: Value
    names: tuple[str, ...]

    @classmethod
    def parse(cls, value: Value) -> "Template":
        return cls(value, tuple(_PLACEHOLDER.findall(value)) if isinstance(value, str) else ())

    def filled(self, body: Mapping[str, Any], key: Callable[[], str | None]) -> Value | None:
        """The value, or None if the body lacks one of those in it. Of a descriptor its code value is taken."""
        if not self.names:
            return self.value
        values = {name: key() if name == KEY else value_at(body, steps_of(name)) for name in self.names}
        if None in values.values():
            return None
        return _PLACEHOLDER.sub(lambda found: _in_words(values[found[1]]), str(self.value))


def value_at(body: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body


def _in_words(value: Any) -> str:
    text = as_text(value)
    found = _DESCRIPTOR_URI.fullmatch(text)
    return found[1] if found else text

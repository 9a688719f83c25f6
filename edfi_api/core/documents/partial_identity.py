"""What a refused body says about the document: its natural key and its organization, as far as they can be read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from edfi_api.core.documents.extraction import Extractor
from edfi_api.core.documents.paths import Path, as_text, values_at
from edfi_api.core.documents.securables import SecurablesExtractor
from edfi_api.model.surface.json_schema import find_schema
from edfi_api.model.surface.resource import Resource
from references.identity import natural_key

# In place of an element that is missing or has the wrong type.
MISSING = "?"
_LONGEST = 300
_KEY_OF_DESCRIPTORS = (("codeValue", ("codeValue",)), ("namespace", ("namespace",)))
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float, Decimal),
    "boolean": (bool,),
}
_FORMATS = {
    "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "date-time": re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z"),
    "time": re.compile(r"\d{2}:\d{2}:\d{2}"),
}


@dataclass(frozen=True, slots=True)
class PartialIdentity:
    """`natural_key` has `?` for what cannot be read, None if nothing can; then, or with one `?`, there is no
    `referential_id`."""

    natural_key: str | None = None
    referential_id: UUID | None = None
    organization: int | None = None


class PartialIdentityReader:
    """Reads coerced bodies of one resource; compiled once."""

    def __init__(self, resource: Resource, extractor: Extractor, securables: SecurablesExtractor) -> None:
        paths = sorted((path.without_root(), path.steps) for path in resource.identity)
        key: Sequence[tuple[str, Path]] = _KEY_OF_DESCRIPTORS if resource.is_descriptor else paths
        self._key = [(name, steps, find_schema(resource.json_schema, steps) or {}) for name, steps in key]
        self._extractor = extractor
        self._securables = securables

    def read(self, body: Mapping[str, Any]) -> PartialIdentity:
        """Raises nothing, whatever the body is."""
        elements = [(name, _text(body, steps, schema)) for name, steps, schema in self._key]
        organization = self._securables.organization(body)
        if all(value == MISSING for _, value in elements):
            return PartialIdentity(organization=organization)
        if any(value == MISSING for _, value in elements):
            return PartialIdentity(natural_key(elements), organization=organization)
        identity = self._extractor.own_identity(dict(body))
        return PartialIdentity(identity.natural_key, identity.referential_id, organization)


def _text(body: Mapping[str, Any], steps: Path, schema: Mapping[str, Any]) -> str:
    for _, value in values_at(body, steps):
        if _fits(value, schema):
            return as_text(value)
    return MISSING


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    type_ = schema.get("type", "string")
    if not isinstance(value, _TYPES.get(type_, ())) or (isinstance(value, bool) and type_ != "boolean"):
        return False
    if not isinstance(value, str):
        return True
    form = _FORMATS.get(schema.get("format", ""))
    return 0 < len(value) <= _LONGEST and "\0" not in value and (form is None or form.fullmatch(value) is not None)

"""Documents as rows of `staged_document`: as JSON for the statements of an API's batch, as lines of COPY for loads."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from edfi_api.documents.incoming import IncomingDocument

# The characters with a meaning in COPY's text format, and their escape sequences.
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_IS_TO_ESCAPE = re.compile(r"[\\\t\n\r]")
_NULL = "\\N"


class Row(NamedTuple):
    """A document to write; `expected_version` as in the statements of single writes: the change version to replace, 0
    for an insert only, None for either. `document_uuid` is the id that a new document gets."""

    incoming: IncomingDocument
    document_uuid: UUID
    expected_version: int | None = None

    def staged(self, position: int, resource_type: int) -> dict[str, Any]:
        """The columns of `staged_document`."""
        incoming, identity = self.incoming, self.incoming.identity
        return {
            "position": position,
            "document_uuid": self.document_uuid,
            "resource_type_id": resource_type,
            "natural_key": identity.natural_key,
            "referential_id": identity.referential_id,
            "superclass_id": identity.superclass_id,
            "targets": incoming.targets,
            "linked": incoming.linked,
            "body": orjson.Fragment(incoming.text),
            **incoming.securables._asdict(),
            "expected_version": self.expected_version,
        }


def copy_line(
    position: int, incoming: IncomingDocument, resource_type: int, new_id: str, expected_version: int | None = None
) -> str:
    """One line of COPY's text format, in the order of the columns of `statements.COPY`. `new_id` is the id that the
    document gets if it is new."""
    identity = incoming.identity
    fields = (
        str(position),
        new_id,
        str(resource_type),
        _escaped(identity.natural_key),
        identity.referential_id.hex,
        _NULL if identity.superclass_id is None else identity.superclass_id.hex,
        _uuid_array(incoming.targets),
        _uuid_array(incoming.linked),
        incoming.text.decode().replace("\\", "\\\\"),  # JSON text has no other character to escape.
        *[_NULL if value is None else _securable_field(value) for value in incoming.securables],
        _NULL if expected_version is None else str(expected_version),
    )
    return "\t".join(fields) + "\n"


def _uuid_array(ids: Iterable[UUID]) -> str:
    return "{" + ",".join([f"{each.int:032x}" for each in ids]) + "}"


def _securable_field(value: str | bool | int | list[int]) -> str:
    return "{" + ",".join(map(str, value)) + "}" if isinstance(value, list) else _escaped(str(value))


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES) if _IS_TO_ESCAPE.search(text) else text

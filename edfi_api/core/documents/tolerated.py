"""The paths of what coercion has tolerated in a body: unknown members, and values in other forms, in body order.

Runs only for bodies in which coercion has met something of the kind.
"""

from collections.abc import Iterator
from typing import Any

from edfi_api.core.documents.coercion import added_members, reason_of
from edfi_api.core.documents.leniency import Reason, Tolerated

_LONGEST_NAME_REPORTED = 100


def tolerated(body: Any, schema: dict[str, Any], known: dict[str, Any]) -> Iterator[Tolerated]:
    """All in a body as it was sent, lazily; names longer than 100 characters are cut.

    Members that the schema does not have, but `known`, a wider one, are left out with all that is in them.
    """
    return _in_value(body, schema, known, "$", None)


def _in_value(
    value: Any, schema: dict[str, Any], known: dict[str, Any], path: str, name: str | None
) -> Iterator[Tolerated]:
    if isinstance(value, dict) and schema.get("type") == "object":
        yield from _in_object(value, schema.get("properties", {}), known.get("properties", {}), path, name)
    elif isinstance(value, list) and schema.get("type") == "array":
        for index, item in enumerate(value):
            yield from _in_value(item, schema["items"], known["items"], f"{path}[{index}]", "")
    elif isinstance(value, str) and (reason := reason_of(value, schema, name or "")):
        yield Tolerated(path, reason)


def _in_object(
    value: dict[str, Any], members: dict[str, Any], known: dict[str, Any], path: str, name: str | None
) -> Iterator[Tolerated]:
    added = added_members(name)
    for member, child in value.items():
        place = f"{path}.{member[:_LONGEST_NAME_REPORTED]}"
        if member in members:
            yield from _in_value(child, members[member], known[member], place, member)
        elif member not in known and member not in added:
            yield Tolerated(place, Reason.UNKNOWN_MEMBER)
